import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
