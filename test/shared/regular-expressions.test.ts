import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { checkSync } from 'recheck';
import ts from 'typescript';

/** Code that sees no text of users: what it matches is written in this project, by its operator or by a store. */
const TRUSTED = [
  'services/cli/',
  'services/demo/',
  'services/stores/data-folder.ts',
  'services/stores/clickhouse/render.ts',
];

/** Regular expressions that may take more than linear time, and what bounds the text they see. */
const BOUNDED: readonly [expression: RegExp, bound: string][] = [
  [/(?<=^|\s)(?<dash>-+)(?=["\p{L}\p{N}+(])/u, 'a folded query of at most 200 characters'],
  [
    /(?<compound>[^\s,;:<>()"'/]+@[^\s,;:<>()"'/]+|(?<![\p{L}\p{N}])(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?![\p{L}\p{N}]))/u,
    'a folded query of at most 200 characters',
  ],
  [
    /(?<phone>(?<![\p{L}\p{N}])\+?\(?\d(?:(?:(?!\s-+[+(]?\d)[\s().-])*\d)*(?![\p{L}\p{N}@]))/u,
    'a folded query of at most 200 characters',
  ],
  [
    /(?<=(?:^|\s)-+)(?<chain>[\p{L}\p{N}]+(?:[^\s"\p{L}\p{N}]+[\p{L}\p{N}]+)*)/u,
    'a folded query of at most 200 characters',
  ],
  [/[/_-]+(\w)/g, 'paths of the operations'],
  [/0+$/, 'a number written with 20 fractional digits'],
  [/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g, 'a canonical statement: only a quote that is not closed is slow'],
];
const bounded = new Set(BOUNDED.map(([expression]) => String(expression)));

interface Literal {
  text: string;
  place: string;
}

/** Every literal of the code, once. */
function literals(): Literal[] {
  const found = new Map<string, string>();
  for (const folder of ['services', 'ingest']) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(folder, name);
      if (!file.endsWith('.ts') || TRUSTED.some((trusted) => file.startsWith(trusted))) continue;
      const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
      const visit = (node: ts.Node): void => {
        if (ts.isRegularExpressionLiteral(node)) {
          const { line } = source.getLineAndCharacterOfPosition(node.getStart());
          if (!found.has(node.text)) found.set(node.text, `${file}:${line + 1}`);
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
    }
  }
  return [...found].map(([text, place]) => ({ text, place }));
}

/** Without repetition that has no end, matching from one place takes a bounded number of steps. */
const repeatsWithoutEnd = (source: string) =>
  /[*+]|\{\d+,\}/.test(source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gs, '_'));

describe('Regular expressions that see text of users', function () {
  this.timeout(180_000);

  it('take time proportional to the text, or see only short text', () => {
    const slow: string[] = [];
    for (const { text, place } of literals()) {
      if (bounded.has(text)) continue;
      const end = text.lastIndexOf('/');
      const source = text.slice(1, end);
      if (!repeatsWithoutEnd(source)) continue;
      const result = checkSync(source, text.slice(end + 1), {
        maxRepeatCount: 400,
        timeout: 60_000,
      });
      const { status } = result;
      const growth = status === 'vulnerable' ? result.complexity.summary : status;
      if (status !== 'safe') slow.push(`${place} ${text}: ${growth}`);
    }
    expect(slow).to.deep.equal([]);
  });

  it('are all there that are said to see short text', () => {
    const known = new Set(literals().map(({ text }) => text));
    expect([...bounded].filter((text) => !known.has(text))).to.deep.equal([]);
  });
});
