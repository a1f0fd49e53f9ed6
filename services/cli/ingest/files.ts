import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { UsageError } from '../errors.js';
import { type Io, printErr } from '../io.js';
import { isReadable } from './input.js';

/**
 * The files that arguments name: paths, folders with everything in them, and patterns with `*`, `**`, `?` and `{a,b}`, which a shell
 * leaves alone in quotes. Sorted within an argument, each once. Throws UsageError when an argument names none.
 */
export function findFiles(io: Io, paths: readonly string[]): string[] {
  if (paths.includes('-')) {
    if (paths.length > 1) throw new UsageError('- stands for standard input; name it alone.');
    return ['-'];
  }
  return [...new Set(paths.flatMap((path) => filesOf(io, path)))];
}

function filesOf(io: Io, path: string): string[] {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) return [path];
    const all = filesBelow(path);
    const readable = all.filter(isReadable);
    if (readable.length === 0)
      throw new UsageError(`${path} has no file of records; name one with --format.`);
    const others = all.length - readable.length;
    if (others > 0) printErr(io, `${others} files in ${path} are left out, as they are of other formats.`);
    return readable;
  }
  if (!/[*?{]/.test(path)) return [path];
  const pattern = normalize(path);
  const folder = dirname(`${pattern.slice(0, pattern.search(/[*?{]/))}x`);
  const expression = globExpression(pattern);
  const found = existsSync(folder) ? filesBelow(folder).filter((file) => expression.test(file)) : [];
  if (found.length === 0) throw new UsageError(`No file matches ${path}.`);
  return found;
}

/** Sorted, without hidden ones. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesBelow(path);
      return statSync(path, { throwIfNoEntry: false })?.isFile() ? [path] : [];
    });
}

function globExpression(pattern: string): RegExp {
  let depth = 0;
  const source = pattern.replace(/\*\*\/?|[*?{},]|[^*?{},]+/g, (part) => {
    switch (part) {
      case '**/':
        return '(?:.*/)?';
      case '**':
        return '.*';
      case '*':
        return '[^/]*';
      case '?':
        return '[^/]';
      case '{':
        depth++;
        return '(?:';
      case '}':
        return depth-- > 0 ? ')' : '\\}';
      case ',':
        return depth > 0 ? '|' : ',';
      default:
        return part.replace(/[.+^$()|[\]\\]/g, '\\$&');
    }
  });
  return new RegExp(`^${source}${')'.repeat(Math.max(0, depth))}$`);
}
