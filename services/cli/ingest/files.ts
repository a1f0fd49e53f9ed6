import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { UsageError } from '../errors.js';
import { type Io, printErr } from '../io.js';
import { isReadable } from './input.js';

/** Limits of one command: files that it loads, and files that its patterns are compared with. */
const LIMITS = { files: 10_000, found: 100_000 };

/**
 * The files that arguments name: paths, folders with everything in them, and patterns with `*`, `**`, `?` and `{a,b}`, which a shell
 * leaves alone in quotes. Sorted within an argument, each once. Throws UsageError when an argument names none, or too many.
 */
export function findFiles(io: Io, paths: readonly string[], limits = LIMITS): string[] {
  if (paths.includes('-')) {
    if (paths.length > 1) throw new UsageError('- stands for standard input; name it alone.');
    return ['-'];
  }
  const files = [...new Set(paths.flatMap((path) => filesOf(io, path, limits.found)))];
  if (files.length <= limits.files) return files;
  throw new UsageError(`${files.length} files are named; load at most ${limits.files} with one command.`);
}

function filesOf(io: Io, path: string, maxFound: number): string[] {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) return [path];
    const all = filesBelow(path, maxFound);
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
  const found = existsSync(folder)
    ? filesBelow(folder, maxFound).filter((file) => expression.test(file))
    : [];
  if (found.length === 0) throw new UsageError(`No file matches ${path}.`);
  return found;
}

/** Sorted, without hidden ones. Throws UsageError for more than `most`. */
function filesBelow(folder: string, most: number, found: string[] = []): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) filesBelow(path, most, found);
    else if (statSync(path, { throwIfNoEntry: false })?.isFile()) found.push(path);
    if (found.length > most)
      throw new UsageError(`More than ${most} files lie below ${folder}; name a smaller folder.`);
  }
  return found;
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
