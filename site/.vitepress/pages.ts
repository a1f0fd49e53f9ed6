/** The pages of the site: those that docs/README.md lists above "How it is built", in its order. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

export const DOCS = join(import.meta.dirname, '../../docs');

export interface Page {
  /** Path below docs/. */
  file: string;
  /** Path below /docs, without an extension. */
  name: string;
  /** Heading of the list that the page stands in. */
  group: string;
  title: string;
}

const [listed = ''] = readFileSync(join(DOCS, 'README.md'), 'utf8').split('## How it is built');

export const PAGES: readonly Page[] = listed
  .split(/^## /m)
  .slice(1)
  .flatMap((section) => {
    const [group = ''] = section.split('\n');
    return [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+\.md)\)$/gm)].map(([, title = '', file = '']) => ({
      file,
      name: basename(file, '.md'),
      group,
      title,
    }));
  });

const names = new Map(PAGES.map(({ file, name }) => [file, name]));

/** The name of the page that a link leads to. Throws if that page is not on the site. */
export function linkedPage(from: string, to: string): string {
  const target = relative(DOCS, join(DOCS, dirname(from), to));
  const name = names.get(target);
  if (name === undefined) throw new Error(`docs/${from} links to ${to}, which is not on the site`);
  return name;
}

/** The Markdown of a page, with links to the Markdown of other pages, and with what pictures show in their place. */
export const plainText = ({ file }: Page): string =>
  readFileSync(join(DOCS, file), 'utf8')
    .replaceAll(/\]\(\/api\/(\w+)\)/g, '](/docs/api/$1.md)')
    .replaceAll('](/api)', '](/docs/api)')
    .replaceAll(/!\[([^\]]*)\]\([^)]+\)/g, '$1')
    .replaceAll(/\]\((?!\w+:|#|\/)([^)#]+)/g, (_, to: string) => `](/docs/${linkedPage(file, to)}.md`);
