/** Drafts a mapping for the export of an unknown source. The draft has guesses from names and values, and a TODO for each doubt. */
import type { TObject } from 'typebox';
import { isObject } from '../../services/shared/json.js';
import type { Stream } from '../streams/stream.js';
import { emailsIn, isReportLine } from './cells.js';
import { compileMapping } from './compile.js';
import { compileDateFormat, dateOrders, exists, parseIsoDate } from './date-format.js';
import { namesFrom } from './edit.js';
import { pathsNamed, sourceNamed } from './field-names.js';
import type { SourceRecord } from './mapping.js';
import type { MappingFile, SourceOptions } from './mapping-file.js';
import { compilePath, rootOf } from './path.js';
import { textOf } from './source-values.js';
import { type TargetType, targetTypes } from './target-types.js';

export interface MappingDraft {
  mapping: MappingFile;
  /** Points to check before the mapping is used. */
  todos: string[];
}

const DATE_FORMATS = [
  'unix_s',
  'unix_ms',
  'DD.MM.YYYY HH:mm',
  'DD.MM.YYYY HH:mm:ss',
  'DD MMM YYYY',
  'D MMM YYYY',
  'MMM D, YYYY',
  'MMM DD, YYYY',
  'YYYYMMDD',
];

/** The entity of each stream. In exports of that entity, the column `id` is the id of the entity. */
const ID_NAMES: Readonly<Record<string, string>> = {
  'network-a-campaigns': 'campaign_id',
  'network-a-creatives': 'creative_id',
  'network-a-companies': 'company_id',
};

const MAX_PATHS = 200;
const MAX_MARKS = 8;
/** Placeholder in a draft that the user must edit; the placeholder is not a path. */
export const OPEN = 'TODO';

/** Fields of a contact, of which a draft must fill at least one: without any of them, its contacts would be empty. */
const PERSON_FIELDS = ['first_name', 'last_name', 'work_emails', 'personal_emails', 'network_a_url'];

/** Whether the records of a draft identify people: a contact needs a name or an address. */
export const takesPeople = ({ stream, fields }: MappingFile): boolean =>
  stream !== 'contacts' || PERSON_FIELDS.some((field) => Object.hasOwn(fields, field));

/**
 * Drafts a mapping from the first records of an export. For a table, `columns` are the columns, and `preambleLines` is the number of lines
 * before the header.
 */
export function draftMapping(
  stream: Stream,
  records: readonly SourceRecord[],
  { columns, preambleLines = 0 }: { columns?: readonly string[] | undefined; preambleLines?: number },
): MappingDraft {
  const samples = records.filter((record) => !isReportLine(textOf(Object.values(record)[0])));
  const paths = columns ?? leafPaths(samples);
  const types = targetTypes(stream);
  const todos: string[] = [];
  const used = new Set<string>();
  const fields: MappingFile['fields'] = {};
  let needsZone = false;
  for (const [field, type] of types) {
    if (field === 'organization_id' || field === 'organizationId' || field === 'deleted' || field === 'type')
      continue;
    const found = pathsNamed(field === 'id' ? (ID_NAMES[stream.name] ?? field) : field, paths).filter(
      (path) => !used.has(path),
    );
    const [first] = type === 'list' ? found : found.slice(0, 1);
    if (first === undefined) continue;
    for (const path of type === 'list' ? found : [first]) used.add(path);
    const source = sourceNamed(field, type, type === 'list' ? found : [first]);
    if (typeof source === 'object' && 'path' in source) todos.push(...dateFormat(source, type, samples));
    needsZone ||= type === 'date-time' && lacksOffset(first, samples);
    fields[field] =
      typeof source === 'object' && 'path' in source && Object.keys(source).length === 1 ? first : source;
  }
  const [fullName] = pathsNamed('full_name', paths).filter((path) => !used.has(path));
  if (types.has('first_name') && !fields.first_name && !fields.last_name && fullName !== undefined) {
    used.add(fullName);
    const names = namesFrom(fullName, valuesAt(fullName, samples));
    Object.assign(fields, names);
    todos.push(
      names.first_name.part === 'first_word'
        ? `first_name: the first word of ${fullName} is a guess, and last_name the rest.`
        : `first_name: what stands behind the comma of ${fullName} is a guess, and last_name what stands before it.`,
    );
  }
  if (types.has('work_emails') && !fields.work_emails && !fields.personal_emails) {
    const [column, ...others] = paths.filter((path) => !used.has(path) && holdsAddresses(path, samples));
    if (column !== undefined && others.length === 0) {
      used.add(column);
      fields.work_emails = column;
      todos.push(`work_emails: ${column} is a guess, as it holds email addresses.`);
    }
  }
  if (types.has('startUrl') && !fields.startUrl) addAddress(fields, paths, used);
  todos.push(...whichEvents(stream, paths, samples));
  complete(stream, fields, samples, todos);
  const scope = scopeOf(stream, fields, paths, used);
  const mapping: MappingFile = {
    description: '',
    stream: stream.name as MappingFile['stream'] & string,
    ...(needsZone && { timezone: 'UTC' }),
    ...(preambleLines > 0 && { recognize: [...used].slice(0, MAX_MARKS) }),
    ...(preambleLines > 0 && typeof fields.date === 'string' && { period_column: fields.date }),
    ...scope,
    fields,
    ignore: columns === undefined ? 'rest' : columns.filter((column) => !used.has(column)),
  };
  if (needsZone) todos.push('timezone: dates have no offset; UTC is a guess.');
  const left = paths.filter((path) => !used.has(path));
  if (left.length > 0) {
    todos.push(
      `ignore: nothing takes ${left.slice(0, 10).join(', ')}${left.length > 10 ? ' and others' : ''}.`,
    );
  }
  mapping.description = todos
    .map((todo, index) => `TODO ${index + 1}: ${todo}`)
    .join(' ')
    .slice(0, 4000);
  // Throws if a guess does not compile.
  compileMapping(mapping, stream);
  return { mapping, todos };
}

/** Words in the name of a column that holds the address of a colleague instead of the person. */
const colleague =
  /owner|manager|created|creator|assigned|sender|besitzer|erstellt|propri[eé]taire|propietario/i;
const address = /^[^\s<>@,;]{1,64}@[^\s<>@,;]{1,190}\.[^\s<>@,;.]{2,63}$/;

/** Whether a column holds only email addresses of the persons. */
function holdsAddresses(path: string, samples: readonly SourceRecord[]): boolean {
  const texts = colleague.test(path) ? [] : valuesAt(path, samples);
  return (
    texts.length > 0 &&
    texts.every(
      (text) => text.length <= MAX_ADDRESS_TEXT && emailsIn(text).some((each) => address.test(each)),
    )
  );
}

const MAX_ADDRESS_TEXT = 1024;

/** Combines two columns that hold parts of the address of a page. */
function addAddress(fields: MappingFile['fields'], paths: readonly string[], used: Set<string>): void {
  const [host] = pathsNamed('url_host', paths);
  const [path] = pathsNamed('url_path', paths);
  if (host === undefined || path === undefined) return;
  used.add(host).add(path);
  fields.startUrl = { template: `https://{${host}}{${path}}` };
}

const MAX_LISTED_EVENTS = 6;

/** Asks which events are visits, if the records have kinds. */
function whichEvents(stream: Stream, paths: readonly string[], samples: readonly SourceRecord[]): string[] {
  const [kind] = stream.name === 'website-visits' ? pathsNamed('event', paths) : [];
  if (kind === undefined) return [];
  const kinds = [...new Set(valuesAt(kind, samples))].slice(0, MAX_LISTED_EVENTS);
  const listed = kinds.map((each) => JSON.stringify(each.slice(0, 40))).join(', ');
  return kinds.length === 0
    ? []
    : [`where: every event becomes a visit; name the kinds of ${kind} that are visits, of ${listed}.`];
}

/** The scope of a row of deliveries: the days of its period, and the columns that make the row a part of a day. */
function scopeOf(
  stream: Stream,
  { date }: MappingFile['fields'],
  paths: readonly string[],
  used: ReadonlySet<string>,
): Pick<MappingFile, 'period' | 'dimensions'> {
  if (stream.rowKey === undefined || date === undefined || date === OPEN) return {};
  const free = (field: string) => pathsNamed(field, paths).filter((path) => !used.has(path));
  const [end] = free('period_end');
  const dimensions = free('dimension');
  const form = typeof date === 'object' && 'format' in date ? { format: date.format } : undefined;
  return {
    period: {
      start: date as NonNullable<MappingFile['period']>['start'],
      ...(end !== undefined && { end: form ? { path: end, ...form } : end }),
    },
    ...(dimensions.length > 0 && {
      dimensions: Object.fromEntries(dimensions.map((path): [string, string[]] => [path, []])),
    }),
  };
}

const valuesAt = (path: string, samples: readonly SourceRecord[]) => {
  const read = compilePath(path);
  return samples.map((sample) => textOf(read(sample))).filter((text) => text !== '');
};

const lacksOffset = (path: string, samples: readonly SourceRecord[]) =>
  valuesAt(path, samples).some((text) => {
    const parsed = parseIsoDate(text);
    return parsed === null ? !/^\d+$/.test(text) : 'day' in parsed;
  });

/** Adds the format that all values have. Returns a TODO if no format fits. */
function dateFormat(source: SourceOptions, type: TargetType, samples: readonly SourceRecord[]): string[] {
  if ((type !== 'date' && type !== 'date-time') || source.path === undefined) return [];
  const texts = valuesAt(source.path, samples);
  if (texts.every((text) => parseIsoDate(text) !== null || dateOrders(text).length > 0)) return [];
  const format = DATE_FORMATS.find((each) => {
    const parse = compileDateFormat(each);
    return texts.every((text) => {
      const parsed = parse(text);
      return (
        parsed !== null && exists(parsed) && !('instant' in parsed && parsed.instant < Date.UTC(2000, 0))
      );
    });
  });
  if (format !== undefined) source.format = format;
  return format === undefined
    ? [`${source.path}: name the "format" of ${JSON.stringify(texts[0]?.slice(0, 40))}.`]
    : [];
}

/** Completes required fields that no column provides. */
function complete(
  stream: Stream,
  fields: MappingFile['fields'],
  samples: readonly SourceRecord[],
  todos: string[],
): void {
  const { required = [] } = stream.schema as TObject;
  const open = required.filter(
    (field) => !Object.hasOwn(fields, field) && field !== 'organization_id' && field !== 'organizationId',
  );
  for (const field of open) {
    const identities = field === 'contact_id' ? identitiesOf(fields) : [];
    if (identities.length > 0) {
      fields[field] = identities.length === 1 ? (identities[0] as SourceOptions) : identities;
      const what = fields.work_emails || fields.personal_emails ? 'email' : 'profile';
      todos.push(`contact_id: the ${what} is a guess; take what stays when a person gets another one.`);
    } else {
      fields[field] = OPEN;
      const sums =
        stream.name === 'website-visits' ? ' Sums of many visits have none, and cannot be loaded.' : '';
      todos.push(`${field}: name the column, in place of ${OPEN}.${sums}`);
    }
  }
  if (stream.name !== 'network-a-deliveries' || fields.creative_id || fields.company_id) return;
  const { date, campaign_id: campaign } = fields;
  const [days, campaigns] = [date, campaign].map((path) =>
    typeof path === 'string' ? samples.map((sample) => textOf(compilePath(path)(sample))) : [],
  );
  if (new Set(days?.map((day, index) => `${day} ${campaigns?.[index]}`)).size < (days?.length ?? 0)) {
    fields.creative_id = OPEN;
    todos.push(
      `creative_id: rows have the same day and campaign; name what tells them apart, in place of ${OPEN}.`,
    );
    return;
  }
  fields.creative_id = {
    template: `urn:li:sponsoredCampaign:{${typeof campaign === 'string' ? campaign : OPEN}}`,
  };
  todos.push('creative_id: no column of ads; the campaign as a whole stands for them.');
}

const MAX_IDENTITIES = 8;

/** Sources that identify a person without an id: the first email, otherwise the profile. */
function identitiesOf({
  work_emails,
  personal_emails,
  network_a_url,
}: MappingFile['fields']): SourceOptions[] {
  const pathsOf = (source: MappingFile['fields'][string] | undefined): string[] =>
    [source ?? []].flat().flatMap((each) => {
      if (typeof each === 'string') return [each];
      return each.all === undefined ? (each.path ?? []) : pathsOf(each.all);
    });
  return [
    ...[work_emails, personal_emails]
      .flatMap(pathsOf)
      .map((path) => ({ path, email: true, lower: true, id: true })),
    ...pathsOf(network_a_url).map((path) => ({ path, profile: true, id: true })),
  ].slice(0, MAX_IDENTITIES);
}

/** Paths to the values of objects, but not into lists. */
function leafPaths(samples: readonly SourceRecord[]): string[] {
  const paths = new Set<string>();
  const walk = (value: unknown, path: string, depth: number) => {
    if (isObject(value) && depth < 4) {
      for (const [name, inner] of Object.entries(value)) {
        const below = path === '' ? name : `${path}.${name}`;
        if (rootOf(below) !== '' && paths.size < MAX_PATHS) walk(inner, below, depth + 1);
      }
    } else if (path !== '') paths.add(path);
  };
  for (const sample of samples) walk(sample, '', 0);
  return [...paths];
}
