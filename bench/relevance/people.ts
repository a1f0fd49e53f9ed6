/** Contacts as somebody who types sees them. Written apart from the search that it judges: it shares none of its rules. */
import type { RecordSet, SearchedRecord } from './record-sets.js';

export interface Person {
  id: string;
  first: string;
  last: string;
  /** Both names as typed, in words. */
  names: string[];
  phones: string[];
  emails: string[];
  profile: string | null;
  jobTitle: string;
  company: string;
  domain: string;
  city: string;
  region: string;
  country: string;
  postalCode: string;
}

export function peopleOf({ contacts }: RecordSet): Person[] {
  return contacts.map(toPerson);
}

function toPerson({ id, fields }: SearchedRecord): Person {
  const text = (field: string) => String(fields[field] ?? '');
  const list = (field: string) => (fields[field] ?? []) as string[];
  const first = text('first_name');
  const last = text('last_name');
  return {
    id,
    first,
    last,
    names: [...wordsOf(first), ...wordsOf(last)],
    phones: list('phones'),
    emails: [...list('work_emails'), ...list('personal_emails')],
    profile: text('network_a_url') || null,
    jobTitle: text('job_title'),
    company: text('company_name'),
    domain: text('company_domain'),
    city: text('city'),
    region: text('state_region'),
    country: text('country'),
    postalCode: text('postal_code'),
  };
}

/** What is typed on a keyboard without accents: Latin letters lose theirs, other scripts stay as they are. */
export function typed(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  return Array.from(text.normalize('NFC'), (letter) =>
    /\p{Script=Latin}/u.test(letter) ? withoutAccents(letter) : letter,
  ).join('');
}

const withoutAccents = (letter: string) =>
  letter
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßøłđæœı]/g, (each) => ({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd' })[each] ?? 'i');

export const wordsOf = (text: string): string[] => typed(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

export const isLatin = ({ first, last }: Person): boolean => /^[\p{Script=Latin}\P{L}]+$/u.test(first + last);

const isJoined = ({ first, last }: Person): boolean =>
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+$/u.test(first + last);

/** Names written together, as in China, Japan and Korea. */
export const joinedNames = (person: Person): string[] =>
  isJoined(person) ? [person.last + person.first] : [];

/** Every word is one of the names, and the last at least begins one. */
export function isBegunBy({ names }: Person, words: readonly string[]): boolean {
  const left = [...names];
  return words.every((word, index) => {
    const isLast = index === words.length - 1;
    const at = left.findIndex((name) => name === word || (isLast && name.startsWith(word)));
    if (at === -1) return false;
    left.splice(at, 1);
    return true;
  });
}
