import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';

/** A page by its path from the root of the repository. */
export const readDoc = (path: string) => readFileSync(join(packageRoot, path), 'utf8');

/** Every page that is written for readers, by its path from the root of the repository. */
export const docPaths = (): string[] => [
  ...readdirSync(packageRoot).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The id of a heading, as GitHub makes it. */
export const slug = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-');

/** The pages that a server serves at /docs, in the order of docs/README.md: path from the root, and name below /docs. */
export const servedPages = (): { path: string; name: string }[] => {
  const [served = ''] = readDoc('docs/README.md').split('## How it is built');
  return [...served.matchAll(/^- \[.+\]\((.+\.md)\)$/gm)].map(([, path = '']) => ({
    path: `docs/${path}`,
    name: basename(path, '.md'),
  }));
};

export interface Link {
  /** Path from the root of the repository. */
  path: string;
  /** The heading that the link leads to; '' without one. */
  anchor: string;
}

/** Links of a page to other files and to headings, outside of code. */
export const linksOf = (page: string): Link[] =>
  [
    ...readDoc(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g),
  ]
    // Those that begin with a slash lead to the API reference of a server.
    .filter(([, target = '']) => !/^(?:https?:|\/)/.test(target))
    .map(([, target = '', anchor = '']) => ({
      path: target === '' ? page : normalize(join(dirname(page), target)),
      anchor,
    }));
