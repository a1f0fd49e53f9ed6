/** The guides, from docs/reference. */
import { type Block, parseMarkdown } from './markdown.js';

const sources = import.meta.glob<string>('../../../docs/reference/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});

export interface Guide {
  name: string;
  title: string;
  blocks: Block[];
}

const ORDER = ['quickstart', 'authentication', 'errors', 'paging', 'rate-limits', 'idempotency', 'streams'];

export const GUIDES: readonly Guide[] = ORDER.map((name) => {
  const blocks = parseMarkdown(sources[`../../../docs/reference/${name}.md`] ?? '');
  const [first] = blocks;
  return { name, title: first?.kind === 'heading' ? first.text : name, blocks };
});
