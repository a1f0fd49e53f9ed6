/** Values of a source record before conversion to the type of their field. */
import { domainOf, slugOfProfile } from '../../services/search/normalize.js';
import { emailsIn } from './cells.js';
import type { SourceRecord } from './mapping.js';
import type { SourceOptions } from './mapping-file.js';
import type { Read } from './path.js';
import { ConversionFailure } from './target-types.js';
import { salesforceId } from './tool-id.js';

/** The trimmed text of a scalar; '' for anything else. An object is never converted, because it may have a `toString` of its own. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Maximum characters of a value that a mapping reads, for all entries of a list together. The longest field holds 8 192. */
const MAX_TEXT_CHARS = 64 * 1024;
export const textTooLong = new ConversionFailure('too_long', `has more than ${MAX_TEXT_CHARS} characters`);

/** Whether a value is too long to be read by many sources. */
export function isTooLong(value: unknown): boolean {
  if (typeof value === 'string') return value.length > MAX_TEXT_CHARS;
  if (!Array.isArray(value)) return false;
  let chars = value.length;
  for (const entry of value) if (typeof entry === 'string') chars += entry.length;
  return chars > MAX_TEXT_CHARS;
}

/**
 * The text after the prefix, or including the prefix. For a list, all entries with the prefix, or the first such entry if the field holds
 * one value.
 */
export function withPrefix(value: unknown, prefix: string, isKept: boolean, isList: boolean): unknown {
  const behind = (entry: unknown) =>
    typeof entry === 'string' && entry.startsWith(prefix)
      ? entry.slice(isKept ? 0 : prefix.length)
      : undefined;
  if (!Array.isArray(value)) return behind(typeof value === 'string' ? value.trim() : value);
  const found = value.map(behind).filter((entry) => entry !== undefined);
  return isList ? found : found[0];
}

/** Applies the options of a source to a text; undefined if no text is left. */
export function changedText(
  text: string,
  { trim, part, email, host, profile, lower, lookup, salesforce, id }: TextChanges,
): string | undefined {
  let changed = trim === undefined ? text.trim() : trimmedOf(text.trim(), new Set(trim));
  if (part !== undefined) changed = partOf(changed, part);
  if (email) changed = emailsIn(changed)[0] ?? '';
  if (host) changed = domainOf(changed.includes('@') ? (emailsIn(changed)[0] ?? '') : changed) ?? '';
  if (profile) changed = slugOfProfile(changed) ?? '';
  if (lower) changed = changed.toLowerCase();
  if (lookup !== undefined && Object.hasOwn(lookup, changed)) changed = lookup[changed] as string;
  if (salesforce) changed = salesforceId(changed);
  if (id) changed = asId(changed);
  return changed === '' ? undefined : changed;
}

function partOf(name: string, part: NonNullable<SourceOptions['part']>): string {
  if (part === 'first_word' || part === 'rest') {
    const [first = '', ...rest] = name.split(/\s+/);
    return part === 'first_word' ? first : rest.join(' ');
  }
  const [before = '', ...behind] = name.split(',');
  return (part === 'before_comma' ? before : behind.join(',')).trim();
}

export type TextChanges = Pick<
  SourceOptions,
  'trim' | 'part' | 'email' | 'host' | 'profile' | 'lower' | 'lookup' | 'salesforce' | 'id'
>;

/** Escapes text so that different texts have different ids. */
const asId = (text: string) =>
  text.replace(/[^A-Za-z0-9.:-]/gu, (sign) => Buffer.from(sign).toString('hex').replace(/../g, '_$&'));

function trimmedOf(text: string, signs: ReadonlySet<string>): string {
  let [start, end] = [0, text.length];
  const isDropped = (sign: string | undefined) => sign !== undefined && (signs.has(sign) || /\s/.test(sign));
  while (start < end && isDropped(text[start])) start++;
  while (end > start && isDropped(text[end - 1])) end--;
  return text.slice(start, end);
}

/** Maximum length of a text from a template: the length of the longest field. */
const MAX_TEMPLATE_TEXT = 8192;
const tooLong = new ConversionFailure('too_long', `would have more than ${MAX_TEMPLATE_TEXT} characters`);

export function fillTemplate(
  parts: readonly { literal: string; read: Read | undefined }[],
  record: SourceRecord,
  isComplete = false,
): string | undefined | ConversionFailure {
  let text = '';
  let isAnyGiven = false;
  for (const { literal, read } of parts) {
    text += literal;
    const given = read?.(record);
    if (given instanceof ConversionFailure) return given;
    const value = textOf(given);
    if (value === '' && isComplete && read !== undefined) return undefined;
    if (value === '') continue;
    isAnyGiven = true;
    text += value;
    if (text.length > MAX_TEMPLATE_TEXT) return tooLong;
  }
  return isAnyGiven ? text.replace(/ {2,}/g, ' ').trim() : undefined;
}
