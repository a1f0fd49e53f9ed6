/** Filters of contract 3.8 by their words, for plain ASCII values. Shares no code with what it judges. */

type Fields = Readonly<Record<string, unknown>>;

export interface SegmentRequest extends Fields {
  any_of?: Fields[];
  none_of?: Fields[];
  query?: string;
}

const wordsOf = (text: unknown): string[] =>
  String(text ?? '')
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? [];
const plain = (text: unknown) => String(text).toLowerCase().replaceAll(' ', '');
const domain = (text: unknown) =>
  String(text)
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/\/.*$/, '');
const slug = (text: unknown) => String(text).split('/').at(-1);
const isThere = (value: unknown) => (Array.isArray(value) ? value.length > 0 : value !== null);
const COUNTRIES: Fields = { sweden: 'se', swe: 'se', norway: 'no' };
const country = (text: unknown) => COUNTRIES[plain(text)] ?? plain(text);

/** Every given word begins a word of the field, or is a whole word of the field if it has one or two letters. */
const hasWords = (field: unknown, given: unknown) =>
  wordsOf(given).every((word) =>
    wordsOf(field).some((held) => (word.length <= 2 ? held === word : held.startsWith(word))),
  );

function matchesCondition(contact: Fields, name: string, given: unknown): boolean {
  const value = contact[name];
  const emails = [contact.work_emails, contact.personal_emails].flat() as string[];
  switch (name) {
    case 'company_domain':
      return value !== null && domain(value) === domain(given);
    case 'company_domains':
      return (given as string[]).some(
        (each) =>
          matchesCondition(contact, 'company_domain', each) ||
          emails.some((email) => plain(email).endsWith(`@${domain(each)}`)),
      );
    case 'country':
      return value !== null && country(value) === country(given);
    case 'postal_code':
      return value !== null && plain(value) === plain(given);
    case 'network_a_url':
      return value !== null && slug(value) === slug(given);
    case 'email':
      return emails.some((email) => plain(email) === plain(given));
    case 'data_import_id':
      return value === given;
    case 'audience_id':
      return (contact.audience_ids as string[]).includes(given as string);
    case 'has':
      return (given as string[]).every((field) => isThere(contact[field]));
    case 'lacks':
      return (given as string[]).every((field) => !isThere(contact[field]));
    case 'updated_after':
      return Date.parse(contact.updated_at as string) > Date.parse(given as string);
    case 'created_after':
      return Date.parse(contact.created_at as string) >= Date.parse(given as string);
    case 'created_before':
      return Date.parse(contact.created_at as string) < Date.parse(given as string);
    default:
      return hasWords(value, given);
  }
}

const matchesFilter = (contact: Fields, filter: Fields) =>
  Object.entries(filter).every(([name, given]) => matchesCondition(contact, name, given));

/** Words of a query match in any of these fields. */
const QUERIED = ['first_name', 'last_name', 'job_title', 'functional_area', 'company_name', 'city'];
const queriedText = (contact: Fields) =>
  [...QUERIED, 'state_region', 'work_emails', 'personal_emails', 'company_domain', 'network_a_url']
    .map((field) => String(contact[field] ?? ''))
    .join(' ');

function matchesQuery(contact: Fields, query: string): boolean {
  const held = wordsOf(queriedText(contact));
  return query
    .split(' ')
    .every((word) =>
      word.startsWith('-') ? !held.includes(word.slice(1)) : held.some((each) => each.startsWith(word)),
    );
}

export function matchesRequest(contact: object, request: SegmentRequest): boolean {
  const { any_of, none_of, query, sort_by: _, ...filter } = request;
  const fields = contact as Fields;
  return (
    matchesFilter(fields, filter) &&
    (any_of === undefined || any_of.some((each) => matchesFilter(fields, each))) &&
    (none_of === undefined || !none_of.some((each) => matchesFilter(fields, each))) &&
    (query === undefined || matchesQuery(fields, query))
  );
}
