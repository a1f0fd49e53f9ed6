/** The mapping file: its type, its JSON Schema and its validation. docs/reference/mapping.md explains it with examples. */
import type { TSchema } from 'typebox';
import { arrayOf, looseObject, strictObject, stringEnum, Type } from '../../services/shared/schema.js';
import { compileValidator } from '../../services/shared/validation.js';
import { STREAM_NAMES, type StreamName } from '../streams/index.js';
import type { DateOrder } from './date-format.js';
import type { DecimalMark } from './number-format.js';

/** The content of a mapping file: how one source record becomes one record of a stream. */
export interface MappingFile {
  $schema?: string;
  description?: string;
  /** Stream of the records. */
  stream?: StreamName;
  /** Time zone of date-times without offset. */
  timezone?: string;
  /** Which of day and month comes first in dates of digits, and the decimal mark of numbers, of tables. Settled by the columns when absent. */
  date_order?: DateOrder;
  decimal?: DecimalMark;
  /** The column of a report whose dates lie in the period that the lines before its header name. */
  period_column?: string;
  /** Where the value of each field of the stream comes from. */
  fields: { [field: string]: ValueSource };
  /** Fields of the source to leave out; "rest" leaves out all that the mapping does not mention. */
  ignore?: string[] | 'rest';
  /** Only source records with one of these texts at each path; others are skipped. */
  where?: { [path: string]: string | string[] };
  /** Paths of an object around which there is an envelope: the first that is one is the record. */
  envelope?: string[];
  /** Source records with one of these texts at a path are skipped. */
  unless?: { [path: string]: string | string[] };
  /** Path of a list whose entries are records each; fields that an entry lacks are read from the message. */
  each?: string;
  /** Paths that every record or header of this source has; of a list one. */
  recognize?: (string | string[])[];
  /** Other tables of the same export. */
  join?: { [name: string]: Join };
}

/** A path, options, or alternatives; the first alternative with a value counts. */
export type ValueSource = string | SourceOptions | (string | SourceOptions)[];

/** Exactly one of `path`, `template`, `value` and `all` says where the value comes from. */
export interface SourceOptions {
  path?: string;
  template?: string;
  value?: string | number | boolean | string[];
  all?: (string | SourceOptions)[];
  prefix?: string;
  keep_prefix?: boolean;
  trim?: string;
  part?: 'first_word' | 'rest';
  host?: boolean;
  lower?: boolean;
  lookup?: { [text: string]: string };
  id?: boolean;
  format?: string | string[];
  timezone?: string;
  split?: string;
  decimal?: DecimalMark;
}

/** The row of another table whose `key` equals `on` of the source record; its fields are at the paths `<name>.<field>`. */
export interface Join {
  /** Name of the table, which its file name ends in. */
  table: string;
  on: ValueSource;
  key: string | SourceOptions;
  /** Paths of a version in the other table: of several rows of a key, the greatest counts. */
  newest?: string[];
  /** Of messages in envelopes, those with one of these texts at each path. With it, the table may be in the file that is loaded. */
  where?: { [path: string]: string | string[] };
}

/** The mapping cannot be used; the message names every problem by its path in the file. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
}

/** Limits that keep the cost of a record proportional to its size. */
export const MAX_MAPPING_BYTES = 256 * 1024;
const MAX_PATH_LENGTH = 256;
const MAX_TEMPLATE_LENGTH = 1024;
const MAX_SOURCES = 16;

const path = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: MAX_PATH_LENGTH, examples: ['properties.emails[0]'] });
const paths = (description: string, maxItems = MAX_SOURCES) =>
  arrayOf(description, path('A path.'), { minItems: 1, maxItems });
const zone = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: 64, examples: ['UTC', 'Europe/Berlin'] });
const dateFormat = Type.String({ minLength: 1, maxLength: 64, examples: ['MM/DD/YYYY', 'unix_ms'] });

const modifiers = {
  prefix: Type.Optional(
    Type.String({
      description: 'Only texts with this prefix, which is removed. Of a list, those that have it.',
      minLength: 1,
      maxLength: MAX_PATH_LENGTH,
      examples: ['urn:li:sponsoredCampaign:'],
    }),
  ),
  keep_prefix: Type.Optional(Type.Boolean({ description: 'The prefix stays.' })),
  trim: Type.Optional(
    Type.String({
      description: 'Characters that are removed from both ends.',
      minLength: 1,
      maxLength: 32,
      examples: ['"\''],
    }),
  ),
  part: Type.Optional(
    stringEnum('Of a full name, the first word or the rest behind it.', ['first_word', 'rest']),
  ),
  host: Type.Optional(
    Type.Boolean({
      description:
        'The domain of an address of a page or of an email, in its normal form; no value where it has none.',
    }),
  ),
  lower: Type.Optional(Type.Boolean({ description: 'The text in lower case.' })),
  lookup: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      description: 'Text → the text to take instead. A text that it lacks stays.',
      type: 'object',
      additionalProperties: { type: 'string', maxLength: 1024 },
      maxProperties: 1000,
    }),
  ),
  id: Type.Optional(
    Type.Boolean({
      description:
        'As an identifier: a sign that an id cannot have, and _, become _ and the two hexadecimal digits of each byte.',
    }),
  ),
  format: Type.Optional(
    Type.Unsafe<string | string[]>({
      description:
        'How a date is written: iso, unix_s, unix_ms, unix_us, or a pattern of YYYY YY MMM MM M DD D HH H hh h mm ss SSS A Z. Of several, the first that fits. ISO 8601 when absent.',
      anyOf: [dateFormat, { type: 'array', items: dateFormat, minItems: 1, maxItems: 8 }],
    }),
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

const scalar = Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] });
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
      anyOf: [scalar, { type: 'array', items: { type: 'string' }, maxItems: 100 }],
    }),
  ),
};
const ORIGINS = ['path', 'template', 'value', 'all'] as const;

const topLevel = {
  $schema: Type.Optional(Type.String({ maxLength: 2048 })),
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
  ignore: Type.Optional(
    Type.Unsafe<string[] | 'rest'>({
      description:
        'Fields of the source to leave out. "rest" leaves out all that are not mentioned; otherwise these must have the name of a field of the stream.',
      anyOf: [
        { const: 'rest' },
        { type: 'array', items: { type: 'string', maxLength: 1024 }, maxItems: 1000 },
      ],
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
  recognize: Type.Optional(
    Type.Unsafe<(string | string[])[]>({
      description: 'Paths that every record of this source has, to recognize it by; of a list, one.',
      type: 'array',
      items: { anyOf: [path('A path.'), paths('Paths.')] },
      minItems: 1,
      maxItems: 32,
    }),
  ),
};

const object = (description: string, values: TSchema, maxProperties: number) =>
  Type.Unsafe<Record<string, unknown>>({
    description,
    type: 'object',
    additionalProperties: values,
    maxProperties,
  });
const textOrTexts = {
  anyOf: [
    Type.String({ maxLength: 1024 }),
    arrayOf('Texts.', Type.String({ maxLength: 1024 }), { minItems: 1, maxItems: MAX_SOURCES }),
  ],
} as unknown as TSchema;
const MAX_FIELDS = 100;
const MAX_JOINS = 4;

/** `all` is a list of sources without `all`: there is no recursion. */
const sourceSchema = (inner?: TSchema) => {
  const all =
    inner &&
    Type.Unsafe<(string | SourceOptions)[]>({
      description: 'Sources whose values together are the list.',
      type: 'array',
      items: inner,
      minItems: 1,
      maxItems: MAX_SOURCES,
    });
  return strictObject(
    { ...origins, ...(all && { all: Type.Optional(all) }), ...modifiers },
    { title: 'a source' },
  );
};
const where = (description: string, texts: TSchema) => Type.Optional(object(description, texts, MAX_SOURCES));
const joinSchema = (on: TSchema, key: TSchema, texts: TSchema) =>
  strictObject(
    {
      table: Type.String({
        description: 'Name of the other table: its file is <table>.csv, or ends in _<table>.csv.',
        pattern: '^[A-Za-z0-9_.-]{1,128}$',
      }),
      newest: Type.Optional(
        paths('Paths of a version in the other table, first non-empty: the row with the greatest counts.'),
      ),
      on,
      key,
      where: where('Path → texts: messages in an envelope with another one are not of this table.', texts),
    },
    { title: 'a join' },
  );
const fileSchema = (source: TSchema, texts: TSchema, join: TSchema) =>
  strictObject(
    {
      ...topLevel,
      fields: object(
        'Field of the stream → where its value comes from: a path, options, or alternatives of which the first with a value counts.',
        source,
        MAX_FIELDS,
      ),
      where: where('Path → texts: records with another one are skipped.', texts),
      unless: where('Path → texts: records with one of them are skipped.', texts),
      join: Type.Optional(
        object(
          'Name → another table of the export, whose fields are at the paths <name>.<field>.',
          join,
          MAX_JOINS,
        ),
      ),
    },
    { title: 'a mapping' },
  );

/** The parts of a file are validated one at a time, so that each error names its part. */
const anything = {} as TSchema;
const validators = {
  file: compileValidator(fileSchema(anything, anything, anything)),
  source: compileValidator(sourceSchema(anything)),
  inner: compileValidator(sourceSchema()),
  path: compileValidator(looseObject({ path: path('') })),
  texts: compileValidator(looseObject({ text: textOrTexts })),
  join: compileValidator(joinSchema(anything, anything, anything)),
};

/** The published JSON Schema of a mapping file: the same with all of its parts. */
export const MAPPING_SCHEMA = (() => {
  const exactlyOne = (names: readonly string[]) => ({ oneOf: names.map((name) => ({ required: [name] })) });
  const orPath = (source: TSchema) => ({ anyOf: [path('Path.'), source] }) as unknown as TSchema;
  const orAlternatives = (source: TSchema) =>
    ({
      anyOf: [
        path('Path.'),
        source,
        { type: 'array', items: orPath(source), minItems: 1, maxItems: MAX_SOURCES },
      ],
    }) as unknown as TSchema;
  const inner = { ...sourceSchema(), ...exactlyOne(ORIGINS.slice(0, 3)) };
  const source = { ...sourceSchema(orPath(inner)), ...exactlyOne(ORIGINS) };
  const join = joinSchema(orAlternatives(inner), orPath(inner), textOrTexts);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...fileSchema(orAlternatives(source), textOrTexts, join),
    title: 'Mapping file of Reachline',
  };
})();

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
  return validateMapping(value);
}

/** The value as a mapping. Throws a `MappingError`. */
export function validateMapping(value: unknown): MappingFile {
  const problems = new Problems();
  problems.check('', validators.file, value);
  if (problems.isEmpty) {
    const { fields, where = {}, unless = {}, join = {} } = value as MappingFile;
    for (const [name, source] of Object.entries(fields)) problems.source(`fields.${name}`, source);
    problems.where('where', where);
    problems.where('unless', unless);
    for (const [name, table] of Object.entries(join)) problems.join(`join.${name}`, table);
  }
  problems.throwIfAny();
  return value as MappingFile;
}

/** Collects problems, each with the path of its part. */
export class Problems {
  readonly #lines: string[] = [];

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  add(where: string, detail: string): void {
    this.#lines.push(where === '' ? detail : `${where}: ${detail}`);
  }

  check(where: string, validate: (value: unknown) => { pointer: string; detail: string }[], value: unknown) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) {
      this.add(where, where === '' ? 'A mapping is a JSON object.' : 'must be an object.');
      return;
    }
    for (const { pointer, detail } of validate(value)) {
      // Follows the errors of each alternative.
      if (/match a schema in anyOf/.test(detail)) continue;
      // The sentence of a value that has no place of its own begins with "The body".
      this.add(where, pointer === '' ? detail.replace(/^The body/, 'It') : detail);
    }
  }

  /** A path, options, or alternatives. */
  source(where: string, source: unknown, validate = validators.source): void {
    if (!Array.isArray(source)) {
      this.alternative(where, source, validate);
      return;
    }
    if (source.length === 0 || source.length > MAX_SOURCES) {
      this.add(where, `must have 1 to ${MAX_SOURCES} alternatives.`);
    } else
      for (const [index, each] of source.entries()) {
        this.alternative(`${where}[${index}]`, each, validate);
      }
  }

  alternative(where: string, source: unknown, validate = validators.source): void {
    if (typeof source === 'string') {
      this.check(where, validators.path, { path: source });
      return;
    }
    this.check(where, validate, source);
    if (typeof source !== 'object' || source === null || Array.isArray(source)) return;
    const given = ORIGINS.filter((origin) => Object.hasOwn(source, origin));
    if (given.length !== 1) this.add(where, `needs exactly one of ${ORIGINS.join(', ')}.`);
    const { all: inner } = source as SourceOptions;
    if (!Array.isArray(inner)) return;
    for (const [index, each] of inner.entries()) {
      this.alternative(`${where}.all[${index}]`, each, validators.inner);
    }
  }

  where(where: string, conditions: object): void {
    for (const [name, texts] of Object.entries(conditions)) {
      this.check(`${where}.${name}`, validators.path, { path: name });
      this.check(`${where}.${name}`, validators.texts, { text: texts });
    }
  }

  join(where: string, join: unknown): void {
    this.check(where, validators.join, join);
    if (!/^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(where.slice('join.'.length))) {
      this.add(where, 'the name of a join has 1 to 64 letters, digits and _, beginning with a letter.');
    }
    const { on, key, where: conditions } = (join ?? {}) as Partial<Join>;
    if (typeof conditions === 'object' && conditions !== null) this.where(`${where}.where`, conditions);
    if (on !== undefined) this.source(`${where}.on`, on, validators.inner);
    if (key !== undefined) this.alternative(`${where}.key`, key, validators.inner);
  }

  list(): readonly string[] {
    return this.#lines;
  }

  throwIfAny(): void {
    if (!this.isEmpty) throw new MappingError(this.#lines.join('\n'));
  }
}
