/** Names of fields in the exports of common tools. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import type { SourceOptions } from './mapping-file.js';
import { isDomainField, type TargetType } from './target-types.js';

/** Names of each field in the languages of exports, with only letters and digits, in lower case. */
const NAMES: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(packageRoot, 'mappings/field-names.json'), 'utf8'),
);

/** Keeps only letters, in lower case, and numbers: numbers as in `E-mail 2` and `Address 1` distinguish values of one field. */
const plain = (name: string) => {
  const words = name
    // Drops the currency from the name of an amount.
    .replace(/ \([A-Z]{3}\)$/, '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .split(/[^\p{L}\p{N}]+/u);
  const named = words.filter((word) => !/^\d*$/.test(word));
  return (named.length > 0 ? named : words).join('');
};

/** Paths, by their plain names and by the plain names of their last parts. */
interface PathIndex {
  whole: Map<string, string[]>;
  last: Map<string, string[]>;
}

const indexes = new WeakMap<readonly string[], PathIndex>();

/** One index per list of paths: a table may have ten thousand columns, and each column would be compared with every name of every field. */
function indexOf(paths: readonly string[]): PathIndex {
  let index = indexes.get(paths);
  if (index === undefined) {
    const lastOf = (path: string) => path.split(/\.| - /).at(-1) ?? path;
    index = { whole: groupedBy(paths, plain), last: groupedBy(paths, (path) => plain(lastOf(path))) };
    indexes.set(paths, index);
  }
  return index;
}

function groupedBy(paths: readonly string[], nameOf: (path: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const name = nameOf(path);
    const group = groups.get(name);
    if (group) group.push(path);
    else groups.set(name, [path]);
  }
  return groups;
}

/** Finds paths that are named like the field, then paths whose last part is named like the field, each in the order of the names. */
export function pathsNamed(field: string, paths: readonly string[]): string[] {
  const names = [plain(field), ...(NAMES[field]?.split(' ') ?? [])];
  const { whole, last } = indexOf(paths);
  const named = (index: PathIndex['whole']) => names.flatMap((name) => index.get(name) ?? []);
  return [...new Set([...named(whole), ...named(last)])];
}

/** The source of a field whose paths are recognized by their names. */
export function sourceNamed(field: string, type: TargetType, paths: readonly string[]): SourceOptions {
  const [path = ''] = paths;
  if (type === 'list' && paths.length > 1) return { all: [...paths] };
  if (isDomainField(field)) return { path, host: true };
  return { path };
}
