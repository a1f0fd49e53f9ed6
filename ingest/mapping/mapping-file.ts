/** The mapping file: its type, its JSON Schema and its validation. docs/reference/mapping.md explains it with examples. */
import type { Static, TSchema } from 'typebox';
import { arrayOf, boolean, strictObject, stringEnum, Type } from '../../services/shared/schema.js';
import { compileValidator } from '../../services/shared/validation.js';
import { STREAM_NAMES } from '../streams/index.js';

/** The mapping cannot be used; the message names every problem by its path in the file. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
}

/** Limits that keep the cost of a record proportional to its size. */
export const MAX_MAPPING_BYTES = 256 * 1024;
const MAX_PATH_LENGTH = 256;
const MAX_TEMPLATE_LENGTH = 1024;
export const MAX_SOURCES = 16;

const pathLength = { minLength: 1, maxLength: MAX_PATH_LENGTH };
const shortList = { minItems: 1, maxItems: MAX_SOURCES };
const path = (description: string) =>
  Type.String({ description, ...pathLength, examples: ['properties.emails[0]'] });
const paths = (description: string) => arrayOf(description, path('A path.'), shortList);
const zone = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: 64, examples: ['UTC', 'Europe/Berlin'] });
const dateFormat = Type.String({ minLength: 1, maxLength: 64, examples: ['MM/DD/YYYY', 'unix_ms'] });
const text = Type.String({ maxLength: 1024 });

/** Schema of a path, or of an object. */
const orPath = <T extends TSchema>(object: T) =>
  Type.Unsafe<string | Static<T>>({ ...object, ...pathLength, type: ['string', 'object'] });
/** Schema of a path, of an object, or of several of them. The first with a value counts. */
const orAlternatives = <T extends TSchema>(object: T, description?: string) =>
  Type.Unsafe<string | Static<T> | (string | Static<T>)[]>({
    ...object,
    ...pathLength,
    ...shortList,
    description,
    type: ['string', 'object', 'array'],
    items: orPath(object),
  });

const origins = {
  path: Type.Optional(
    path('Name of a field or column of the source, or a path: `properties.emails[0].value`.'),
  ),
  template: Type.Optional(
    Type.String({
      description: 'Text with paths in braces. Gives no value where all of them are empty.',
      minLength: 1,
      maxLength: MAX_TEMPLATE_LENGTH,
      examples: ['{first} {last}'],
    }),
  ),
  value: Type.Optional(
    Type.Unsafe<string | number | boolean | string[]>({
      description: 'The same value in every record.',
      type: ['string', 'number', 'boolean', 'array'],
      items: { type: 'string' },
      maxItems: 100,
    }),
  ),
};

const modifiers = {
  complete: Type.Optional(boolean('The template has no value unless each of its paths has one.')),
  prefix: Type.Optional(
    Type.String({
      description: 'Only texts with this prefix, which is removed. Of a list, those that have it.',
      minLength: 1,
      maxLength: MAX_PATH_LENGTH,
      examples: ['urn:li:sponsoredCampaign:'],
    }),
  ),
  keep_prefix: Type.Optional(boolean('The prefix stays.')),
  trim: Type.Optional(
    Type.String({
      description: 'Characters that are removed from both ends.',
      minLength: 1,
      maxLength: 32,
      examples: ['"\''],
    }),
  ),
  part: Type.Optional(
    stringEnum(
      'Part of a full name: the first word or the rest behind it; of `Lee, Ann`, what stands behind the comma or before it.',
      ['first_word', 'rest', 'behind_comma', 'before_comma'],
    ),
  ),
  email: Type.Optional(
    boolean(
      'The first email address of a text such as `Ann <ann@acme.example>`; no value where it has none.',
    ),
  ),
  host: Type.Optional(
    boolean(
      'The domain of an address of a page or of an email, in its normal form; no value where it has none.',
    ),
  ),
  profile: Type.Optional(
    boolean(
      'The last part of the address of a profile, in its normal form, however the address is written; no value where it is another.',
    ),
  ),
  lower: Type.Optional(boolean('The text in lower case.')),
  lookup: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      description: 'Text → the text to take instead. A text that it lacks stays.',
      type: 'object',
      additionalProperties: text,
      maxProperties: 1000,
    }),
  ),
  salesforce: Type.Optional(
    boolean('The Salesforce id of 18 characters, also where the source has 15; another text stays.'),
  ),
  id: Type.Optional(
    boolean(
      'As an identifier: a sign that an id cannot have, and _, become _ and the two hexadecimal digits of each byte.',
    ),
  ),
  format: Type.Optional(
    Type.Unsafe<string | string[]>({
      ...dateFormat,
      description:
        'How a date is written: iso, unix_s, unix_ms, unix_us, or a pattern of YYYY YY MMMM MMM MM M DD D HH H hh h mm ss SSS A Z. Of several, the first that fits. ISO 8601 when absent.',
      type: ['string', 'array'],
      items: dateFormat,
      minItems: 1,
      maxItems: 8,
    }),
  ),
  date_order: Type.Optional(
    stringEnum('Whether the day (`dmy`) or the month (`mdy`) comes first in these dates of digits.', [
      'dmy',
      'mdy',
    ]),
  ),
  timezone: Type.Optional(zone('Time zone of this date-time, where it has no offset.')),
  split: Type.Optional(
    Type.String({
      description: 'Separator of the entries of a list that is one text.',
      minLength: 1,
      maxLength: 8,
      default: ';',
    }),
  ),
  decimal: Type.Optional(
    stringEnum(
      'Decimal mark of a number that is text. The other mark, spaces and apostrophes then separate groups of digits.',
      ['.', ','],
    ),
  ),
};

/** Requires exactly one of the options that say where the value comes from. */
const sourceOf = <T extends Record<string, TSchema>>(given: T) =>
  strictObject(
    { ...given, ...modifiers },
    {
      title: 'a source',
      oneOf: [
        { not: { type: 'object' } },
        ...Object.keys(given).map((name) => ({ type: 'object', required: [name] })),
      ],
    },
  );
const innerSource = sourceOf(origins);
const Source = sourceOf({
  ...origins,
  // Leaves out `all`, so there is no recursion.
  all: Type.Optional(arrayOf('Sources whose values together are the list.', orPath(innerSource), shortList)),
});
export type SourceOptions = Static<typeof Source>;

const ValueSource = orAlternatives(
  Source,
  'Field of the stream → where its value comes from: a path, options, or alternatives of which the first with a value counts.',
);
export type ValueSource = Static<typeof ValueSource>;

/** Schema of conditions: texts by path. A record must have one of the texts at the path. */
const conditions = (description: string) =>
  Type.Optional(
    Type.Unsafe<Record<string, string | string[]>>({
      description,
      title: `conditions, whose paths have 1 to ${MAX_PATH_LENGTH} characters`,
      type: 'object',
      patternProperties: {
        [`^[\\s\\S]{1,${MAX_PATH_LENGTH}}$`]: {
          ...text,
          ...shortList,
          type: ['string', 'array'],
          items: text,
        },
      },
      additionalProperties: false,
      maxProperties: MAX_SOURCES,
    }),
  );

/** The row of another table whose `key` equals `on` of the source record. Its fields have the paths `<name>.<field>`. */
const Join = strictObject(
  {
    table: Type.String({
      description: 'Name of the other table: its file is <table>.csv, or ends in _<table>.csv.',
      title: 'a name of 1 to 128 letters, digits and . _ -',
      pattern: '^[A-Za-z0-9_.-]{1,128}$',
    }),
    each: Type.Optional(path('Path of a list in a message of the other table, whose entries are its rows.')),
    newest: Type.Optional(
      paths('Paths of a version in the other table, first non-empty: the row with the greatest counts.'),
    ),
    on: orAlternatives(innerSource),
    key: orPath(innerSource),
    where: conditions('Path → texts: messages in an envelope with another one are not of this table.'),
  },
  { title: 'a join' },
);
export type Join = Static<typeof Join>;

/** Describes how one source record becomes one record of a stream. */
const MappingFile = strictObject(
  {
    $schema: Type.Optional(Type.String({ maxLength: 2048 })),
    $comment: Type.Optional(Type.String({ maxLength: 4096 })),
    description: Type.Optional(Type.String({ maxLength: 4096 })),
    stream: Type.Optional(stringEnum('Stream of the records.', STREAM_NAMES)),
    timezone: Type.Optional(
      zone('IANA time zone of date-times without offset. Without one they are rejected.'),
    ),
    date_order: Type.Optional(
      stringEnum(
        'Whether the day or the month comes first where a table has dates of digits, 05/10/2026. Settled by the dates of the column when absent, or the table is refused.',
        ['dmy', 'mdy'],
      ),
    ),
    decimal: Type.Optional(
      stringEnum(
        'Decimal mark of the numbers of a table. Settled by the numbers of the column when absent, or the table is refused.',
        ['.', ','],
      ),
    ),
    period_column: Type.Optional(
      path(
        'Column whose dates lie in the period that the lines before the header name, which may settle their order.',
      ),
    ),
    period: Type.Optional(
      strictObject(
        {
          start: orAlternatives(innerSource, 'First day that a row is about.'),
          end: Type.Optional(
            orAlternatives(innerSource, 'Last day that a row is about; absent where the source has none.'),
          ),
          end_is_after: Type.Optional(boolean('`end` is the day after the last day.')),
        },
        {
          description: 'The days that a row is about. A row of more than one day is rejected (`not_a_day`).',
          title: 'start and end',
        },
      ),
    ),
    dimensions: Type.Optional(
      Type.Unsafe<Record<string, string[]>>({
        description:
          'Path → values that belong to the key of a record, with `*` at the end for any text after a beginning. A row with another value there is a part of a record and is rejected (`finer_than_key`).',
        title: `dimensions, whose paths have 1 to ${MAX_PATH_LENGTH} characters`,
        type: 'object',
        patternProperties: {
          [`^[\\s\\S]{1,${MAX_PATH_LENGTH}}$`]: { type: 'array', items: text, maxItems: MAX_SOURCES },
        },
        additionalProperties: false,
        maxProperties: 100,
      }),
    ),
    ignore: Type.Optional(
      Type.Unsafe<string[] | 'rest'>({
        description:
          'Fields of the source to leave out. "rest" leaves out all that are not mentioned; otherwise these must have the name of a field of the stream.',
        type: ['string', 'array'],
        title: '"rest" or a list',
        pattern: '^rest$',
        items: text,
        maxItems: 1000,
      }),
    ),
    envelope: Type.Optional(
      paths(
        'Paths at which a message may hold the record: the first object counts. Fields that it lacks are read from the message; where no path has an object, the message is the record.',
      ),
    ),
    each: Type.Optional(
      path(
        'Path of a list whose entries are records each. Fields that an entry lacks are read from the message.',
      ),
    ),
    each_column: Type.Optional(
      strictObject(
        {
          name: path('Field that has the name of the column.'),
          value: path('Field that has its cell.'),
        },
        {
          description:
            'Every column that the mapping does not mention is a record, unless its cell is empty: for tables with a column for each currency, country or week.',
          title: 'name and value',
        },
      ),
    ),
    recognize: Type.Optional(
      Type.Unsafe<(string | string[])[]>({
        description: 'Paths that every record of this source has, to recognize it by; of a list, one.',
        type: 'array',
        items: { ...paths('A path, or several.'), ...pathLength, type: ['string', 'array'] },
        minItems: 1,
        maxItems: 32,
      }),
    ),
    fields: Type.Unsafe<Record<string, ValueSource>>({
      type: 'object',
      additionalProperties: ValueSource,
      maxProperties: 100,
    }),
    where: conditions('Path → texts: records with another one are skipped.'),
    unless: conditions('Path → texts: records with one of them are skipped.'),
    join: Type.Optional(
      Type.Unsafe<Record<string, Join>>({
        description: 'Name → another table of the export, whose fields are at the paths <name>.<field>.',
        title: 'joins, whose names have 1 to 64 letters, digits and _ and begin with a letter',
        type: 'object',
        patternProperties: { '^[A-Za-z][A-Za-z0-9_]{0,63}$': Join },
        additionalProperties: false,
        maxProperties: 4,
      }),
    ),
  },
  { title: 'a mapping' },
);
export type MappingFile = Static<typeof MappingFile>;

/** Options that say how a value is written. They do not choose another value. */
const FORM_OPTIONS = new Set(['path', 'format', 'timezone', 'decimal', 'date_order']);

/** Whether every field is read from the column of its name, as in files in the format of the stream. */
export const isOwnForm = ({ fields }: MappingFile): boolean =>
  Object.entries(fields).every(([field, source]) => {
    if (typeof source !== 'object') return source === field;
    return (
      !Array.isArray(source) &&
      source.path === field &&
      Object.keys(source).every((name) => FORM_OPTIONS.has(name))
    );
  });

/** The published JSON Schema of a mapping file. */
export const MAPPING_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...MappingFile,
  title: 'Mapping file of Reachline',
};

const validate = compileValidator(MappingFile);

/** Reads a mapping file. Throws a `MappingError` that lists every problem by its path in the file. */
export function parseMappingFile(text: string): MappingFile {
  if (Buffer.byteLength(text) > MAX_MAPPING_BYTES) {
    throw new MappingError(`A mapping file may have ${MAX_MAPPING_BYTES} bytes at most.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const line = /line (\d+)/.exec((error as Error).message)?.[1];
    throw new MappingError(
      `The mapping file is not valid JSON${line === undefined ? '' : ` at line ${line}`}.`,
    );
  }
  const problems = validate(value).map(({ detail }) => detail.replace(/^The body/, 'A mapping'));
  if (problems.length > 0) throw new MappingError(problems.join('\n'));
  return value as MappingFile;
}
