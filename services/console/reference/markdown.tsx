/** The part of Markdown that the guides and the descriptions of the API use. */
import type { ComponentChildren } from 'preact';
import { ScrollRegion } from '../components/scroll-region.js';
import { CodeBlock } from './code.js';
import { slug } from './slug.js';

export type Block =
  | { kind: 'heading'; level: number; text: string; id: string }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'table'; head: string[]; rows: string[][] }
  | { kind: 'list'; ordered: boolean; items: string[] }
  | { kind: 'paragraph'; text: string };

const cells = (line: string) =>
  line
    .replaceAll(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());

export function parseMarkdown(source: string): Block[] {
  const blocks: Block[] = [];
  // Fences first, as they may hold blank lines.
  const parts = source.split(/^```(\w*).*\n([\s\S]*?)^```$/m);
  parts.forEach((part, index) => {
    if (index % 3 === 1)
      blocks.push({ kind: 'code', language: part, text: (parts[index + 1] ?? '').trimEnd() });
    if (index % 3 !== 0) return;
    for (const text of part
      .replaceAll(/<!--[\s\S]*?-->/g, '')
      .split(/\n{2,}/)
      .map((each) => each.trim())) {
      if (text !== '') blocks.push(parseBlock(text));
    }
  });
  return blocks;
}

function parseBlock(text: string): Block {
  const [, marks, title] = /^(#+) (.+)$/.exec(text) ?? [];
  if (marks && title) return { kind: 'heading', level: marks.length, text: title, id: slug(title) };
  const lines = text.split('\n');
  if (lines[0]?.startsWith('|')) {
    const [head = '', , ...rows] = lines;
    return { kind: 'table', head: cells(head), rows: rows.map(cells) };
  }
  if (/^(?:-|\d+\.) /.test(text)) {
    const items = text.split(/^(?:-|\d+\.) /m).slice(1);
    return { kind: 'list', ordered: !text.startsWith('-'), items: items.map((item) => item.trim()) };
  }
  return { kind: 'paragraph', text };
}

/** Links between guides name their plain text; here they lead to the page. */
const target = (to: string) => to.replace(/^(\/docs\/[\w-]+)\.md/, '$1');

/** Code, links and strong text within a line. */
export function Inline({ text }: { text: string }) {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/);
  return (
    <>
      {parts.map((part, index) => {
        const key = `${index}`;
        if (part.startsWith('`')) return <code key={key}>{part.slice(1, -1)}</code>;
        if (part.startsWith('**')) return <strong key={key}>{part.slice(2, -2)}</strong>;
        const [, label = '', to] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part) ?? [];
        return to === undefined ? (
          part
        ) : (
          <a key={key} href={target(to)}>
            <Inline text={label} />
          </a>
        );
      })}
    </>
  );
}

export function Markdown({ blocks }: { blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, index) => (
        <BlockView key={`${index}`} block={block} />
      ))}
    </>
  );
}

/** A description of the OpenAPI document. */
export const Description = ({ text }: { text: string | undefined }) => (
  <Markdown blocks={parseMarkdown(text ?? '')} />
);

function BlockView({ block }: { block: Block }): ComponentChildren {
  switch (block.kind) {
    case 'heading': {
      const Tag = `h${Math.min(block.level, 3)}` as 'h1';
      return (
        <Tag id={block.level > 1 ? block.id : undefined}>
          <Inline text={block.text} />
        </Tag>
      );
    }
    case 'code':
      // The guides name the address of a first start.
      return (
        <CodeBlock
          language={block.language}
          text={block.text.replaceAll('http://127.0.0.1:8080', location.origin)}
        />
      );
    case 'list': {
      const Tag = block.ordered ? 'ol' : 'ul';
      return (
        <Tag>
          {block.items.map((item) => (
            <li key={item}>
              <Inline text={item} />
            </li>
          ))}
        </Tag>
      );
    }
    case 'table':
      return (
        <ScrollRegion label={block.head.join(', ')}>
          <table class="table">
            <thead>
              <tr>
                {block.head.map((cell) => (
                  <th key={cell}>
                    <Inline text={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row) => (
                <tr key={row.join()}>
                  {row.map((cell, index) => (
                    <td key={`${index}`}>
                      <Inline text={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      );
    case 'paragraph':
      return (
        <p>
          <Inline text={block.text} />
        </p>
      );
  }
}
