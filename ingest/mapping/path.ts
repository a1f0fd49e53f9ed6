/** Paths into a source record. */

/** Reads a value; undefined if the source has no value at the path. */
export type Read = (source: Readonly<Record<string, unknown>>) => unknown;

const MAX_SEGMENTS = 16;
const segment = /\.?([^.[\]]+)|\[(?:(\d{1,6})|([^.[\]=]+)=([^[\]]+))\]/y;

/** A field, an index, or the first entry of a list whose field `name` has the text `value`. */
type Segment = string | number | { name: string; value: string };

/** The segments of `a.b[0].c[key=d]`; null for an invalid path. */
function parsePath(path: string): Segment[] | null {
  const segments: Segment[] = [];
  segment.lastIndex = 0;
  while (segment.lastIndex < path.length) {
    const found = segment.exec(path);
    if (found === null) return null;
    const [text, name, index, key, value] = found;
    const isFirst = segments.length === 0;
    if (name === undefined ? isFirst : isFirst === text.startsWith('.')) return null;
    segments.push(name ?? (key === undefined ? Number(index) : { name: key, value: value ?? '' }));
    if (segments.length > MAX_SEGMENTS) return null;
  }
  return segments.length === 0 ? null : segments;
}

/** The field of the source record with which a path begins. */
export function rootOf(path: string): string {
  return String(parsePath(path)?.[0] ?? path);
}

/**
 * Compiles a path. A field whose name is exactly the path comes first, because columns may be called `Avg. CTR`. Only own properties are
 * read, so that no name reaches a prototype.
 */
export function compilePath(path: string): Read {
  const segments = parsePath(path);
  const direct: Read = (source) => (Object.hasOwn(source, path) ? source[path] : undefined);
  if (segments === null || segments.length === 1) return direct;
  return (source) => {
    if (Object.hasOwn(source, path)) return source[path];
    let value: unknown = source;
    for (const each of segments) {
      if (typeof value === 'string') value = parsedCell(value);
      if (typeof value !== 'object' || value === null) return undefined;
      if (Array.isArray(value) === (typeof each === 'string')) return undefined;
      const name = typeof each === 'object' ? indexOf(value as unknown[], each) : each;
      if (!Object.hasOwn(value, name)) return undefined;
      value = (value as Record<string | number, unknown>)[name];
    }
    return value;
  };
}

/** Maximum characters of a cell that is parsed as JSON, because each path would parse the cell again. */
const MAX_CELL_LENGTH = 64 * 1024;

/** Parses a cell as JSON, because warehouses and connectors write objects and lists into a cell as JSON. */
export function parsedCell(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || text.length > MAX_CELL_LENGTH) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const indexOf = (list: readonly unknown[], { name, value }: { name: string; value: string }) =>
  list.findIndex(
    (entry) =>
      typeof entry === 'object' &&
      entry !== null &&
      Object.hasOwn(entry, name) &&
      (entry as Record<string, unknown>)[name] === value,
  );

export interface TemplatePart {
  literal: string;
  /** Path after the literal; undefined at the end of the template. */
  path?: string;
}

const MAX_PLACEHOLDERS = 16;

/** Splits a template such as `{first} {last}`; `{{` and `}}` stand for braces. Returns the error of an invalid template. */
export function parseTemplate(template: string): TemplatePart[] | string {
  const parts: TemplatePart[] = [];
  let literal = '';
  for (let at = 0; at < template.length; at++) {
    const sign = template[at] as string;
    if ((sign === '{' || sign === '}') && template[at + 1] === sign) {
      literal += sign;
      at++;
    } else if (sign === '{') {
      const end = template.indexOf('}', at);
      if (end < 0) return 'a { is never closed; write {{ for the sign itself.';
      const path = template.slice(at + 1, end);
      if (path === '') return 'a placeholder {} names no path.';
      parts.push({ literal, path });
      if (parts.length > MAX_PLACEHOLDERS) return `may have ${MAX_PLACEHOLDERS} placeholders at most.`;
      literal = '';
      at = end;
    } else if (sign === '}') return 'a } was never opened; write }} for the sign itself.';
    else literal += sign;
  }
  if (parts.length === 0) return 'names no path; a constant is a value.';
  parts.push({ literal });
  return parts;
}
