/** Validates values with Ajv, and translates its errors into pointers and sentences. */
import { domainToASCII } from 'node:url';
import { _, type ErrorObject, type KeywordCxt, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { memoize } from './cache.js';
import { didYouMean } from './did-you-mean.js';
import { ID_PATTERN } from './ids.js';
import { addressKey, addressRange } from './ip-address.js';
import { MAX_FOLDED_LENGTH, TEXT_QUERY } from './schema.js';
import { foldsWithin, MAX_FOLDED_GROWTH, plainAscii, tooLongOnceFolded } from './text.js';
import { canonicalTimestamp } from './time.js';

const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  verbose: true,
});
addFormats.default(ajv, { mode: 'full', formats: ['date'], keywords: true });
ajv.addFormat('date-time', { type: 'string', validate: isDateTime });
ajv.addFormat('idn-email', { type: 'string', validate: isEmail });
ajv.addFormat('ip-address', { type: 'string', validate: (text: string) => addressKey(text) !== null });
ajv.addFormat('ip-range', { type: 'string', validate: (text: string) => addressRange(text) !== null });
ajv.addKeyword(TEXT_QUERY);
ajv.addKeyword('x-extensible-enum');
ajv.addKeyword({
  keyword: MAX_FOLDED_LENGTH,
  type: 'string',
  schemaType: 'number',
  error: { message: 'is too long once folded' },
  // Inlined into the compiled validator, because a function call for each text would be measurably slower.
  code(context: KeywordCxt) {
    const { data, gen } = context;
    const limit = Number(context.schema);
    const fits = gen.scopeValue('func', { ref: foldsWithin });
    context.fail(_`${data}.length > ${Math.floor(limit / MAX_FOLDED_GROWTH)} && !${fits}(${data}, ${limit})`);
  },
});

/** The years 0000 to 9999 in UTC, which ISO 8601 writes with four digits. */
const TIMESTAMP_RANGE = { first: Date.UTC(-1, 12), last: Date.UTC(9999, 11, 31, 23, 59, 59, 999) };

/** Checks a date-time. Unlike the format of ajv-formats, rejects leap seconds, which `Date` cannot represent. */
function isDateTime(text: string): boolean {
  const canonical = canonicalTimestamp(text);
  if (canonical === null || !isDate(canonical.day)) return false;
  const timestamp = Date.parse(canonical.text);
  return timestamp >= TIMESTAMP_RANGE.first && timestamp <= TIMESTAMP_RANGE.last;
}

const isDate = memoize((day) => {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
});

/** RFC 6531 without quoted local parts: letters and digits of every script, and the signs of RFC 5321. */
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u;

/** Matches nearly every address. The expressions for all scripts take several times as long. */
const asciiEmail =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/i;

function isEmail(text: string): boolean {
  if (asciiEmail.test(text) && !/xn--/i.test(text)) return true;
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1);
  const labels = domain.split('.');
  return (
    localPart.test(text.slice(0, Math.max(at, 0))) &&
    labels.length > 1 &&
    labels.every((label) => domainLabel.test(label)) &&
    ((plainAscii.test(domain) && !/xn--/i.test(domain)) || domainToASCII(domain) !== '')
  );
}

/** Maximum errors per request: more errors would only cost memory for a hostile body. */
export const MAX_ERRORS = 100;
/** Maximum number of unknown fields for which a known field is suggested. */
const MAX_HINTS = 8;

/** One violated rule. `pointer` is a JSON Pointer into the body, `?name` for a query parameter, or `#Name` for a header. */
export interface FieldError {
  pointer: string;
  code: string;
  detail: string;
}

/** Returns the violated rules, at most `MAX_ERRORS`; empty for a valid value. */
export type Validator = (value: unknown) => FieldError[];

const compiled = new WeakMap<TSchema, { validator: Validator; compile: () => ValidateFunction }>();

/** Pause between two schemas when they are compiled ahead. */
const COMPILE_PAUSE_MS = 50;

/**
 * Compiles schemas before their first use, while the process is mostly idle. Compiling the largest schema blocks the event loop for tens of
 * milliseconds, which would delay the first request and all other requests.
 */
export function compileAhead([schema, ...others]: readonly TSchema[]): void {
  if (!schema) return;
  const compileNext = () => {
    compileValidator(schema);
    compiled.get(schema)?.compile();
    compileAhead(others);
  };
  setTimeout(compileNext, COMPILE_PAUSE_MS).unref();
}

/**
 * Compiles a schema once per process, at its first use: compiling all schemas took a fifth of the start time, and most processes use few.
 * The validator throws if the schema is invalid.
 */
export function compileValidator(schema: TSchema): Validator {
  const known = compiled.get(schema);
  if (known) return known.validator;
  let check: ValidateFunction | undefined;
  const compile = () => {
    check ??= ajv.compile(withoutIds(schema));
    return check;
  };
  const { properties = {} } = schema as { properties?: Record<string, { maxItems?: number }> };
  const lists = Object.entries(properties).filter(([, { maxItems }]) => maxItems !== undefined);
  const validator: Validator = (value) => {
    const isValid = check ?? compile();
    const { shortened, tooLong } = withShortLists(value, lists);
    if (isValid(shortened)) return [];
    const found: FieldError[] = [];
    let hints = 0;
    for (const error of isValid.errors ?? []) {
      if (found.length >= MAX_ERRORS) break;
      if (tooLong.some((pointer) => error.instancePath.startsWith(pointer))) continue;
      // Skips the errors of alternatives: Ajv then adds the error that no alternative matches.
      if (error.schemaPath.includes('/oneOf/')) continue;
      // Skips the rule that a name violates: Ajv then adds the error that says which name.
      if (error.propertyName !== undefined) continue;
      // Limits suggestions, because finding a suggestion is the most expensive part.
      const hasHint = error.keyword !== 'additionalProperties' || ++hints <= MAX_HINTS;
      found.push(explain(error, hasHint));
    }
    return found;
  };
  compiled.set(schema, { validator, compile });
  return validator;
}

/** The schema without the names of its parts: Ajv rejects a schema that has a named part twice. */
const withoutIds = (schema: TSchema) =>
  JSON.parse(JSON.stringify(schema, (name, value) => (name === '$id' ? undefined : value))) as TSchema;

/**
 * Cuts lists that are too long, because Ajv would check every item. `tooLong` has pointers to the items of these lists; errors of such
 * items are not reported.
 */
function withShortLists(
  value: unknown,
  lists: readonly [name: string, limits: { maxItems?: number }][],
): { shortened: unknown; tooLong: string[] } {
  const tooLong: string[] = [];
  if (typeof value !== 'object' || value === null) return { shortened: value, tooLong };
  let shortened = value as Record<string, unknown>;
  for (const [name, { maxItems = 0 }] of lists) {
    const list = Object.hasOwn(value, name) ? shortened[name] : undefined;
    if (!Array.isArray(list) || list.length <= maxItems) continue;
    shortened = { ...shortened, [name]: list.slice(0, maxItems + 1) };
    tooLong.push(`/${escapePointer(name)}/`);
  }
  return { shortened, tooLong };
}

export const escapePointer = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The name of the value at a JSON Pointer, for messages: `limit`, `work_emails[0]`, `fields.city.path`. */
export function fieldName(pointer: string): string {
  const names = pointer.split('/').slice(1);
  if (names.length === 0) return 'The body';
  const parts = names.map((name) => quoted(name.replaceAll('~1', '/').replaceAll('~0', '~')));
  return parts.reduce((name, part) => name + (/^\d+$/.test(part) ? `[${part}]` : `.${part}`));
}

/** Quotes names that are empty or contain spaces or punctuation. */
const quoted = (name: string) => (/^[\p{L}\p{N}_.-]+$/u.test(name) ? name : JSON.stringify(name));

/** Suggests a known field. Other products call this field `linkedin_url`; here, the network is `network_a`. */
function suggestField(name: string, fields: string[]): string {
  return didYouMean(name, fields) || didYouMean(name.toLowerCase().replace('linkedin', 'network_a'), fields);
}

function explain(error: ErrorObject, hasHint: boolean): FieldError {
  const { keyword, params, instancePath, parentSchema, data } = error;
  const name = fieldName(instancePath);
  const at = (code: string, detail: string, pointer = instancePath): FieldError => ({
    pointer,
    code,
    detail,
  });
  switch (keyword) {
    case 'required': {
      const pointer = `${instancePath}/${escapePointer(String(params.missingProperty))}`;
      return at('required', `${fieldName(pointer)} is required.`, pointer);
    }
    case 'additionalProperties': {
      const unknown = String(params.additionalProperty).slice(0, 128);
      const pointer = `${instancePath}/${escapePointer(unknown)}`;
      const hint = hasHint ? suggestField(unknown, Object.keys(parentSchema?.properties ?? {})) : '';
      const detail = `${fieldName(pointer)} is not a field of ${parentSchema?.title ?? 'this request'}.`;
      return at('unknown_field', `${detail} ${hint}`.trimEnd(), pointer);
    }
    case 'propertyNames': {
      const pointer = `${instancePath}/${escapePointer(String(params.propertyName).slice(0, 128))}`;
      return at(
        'invalid_name',
        `${fieldName(pointer)} must have a name of 1 to 64 letters, digits and underscores that begins with no digit.`,
        pointer,
      );
    }
    case 'type': {
      const types = [params.type].flat().filter((type) => type !== 'null') as string[];
      return at(
        'invalid_type',
        `${name} must be ${types.map(withArticle).join(' or ')}, not ${describe(data)}.`,
      );
    }
    case 'enum': {
      const allowed = (params.allowedValues as unknown[]).filter((value) => value !== null) as string[];
      const hint = typeof data === 'string' ? didYouMean(data, allowed) : '';
      return at('invalid_value', `${name} must be one of ${allowed.join(', ')}. ${hint}`.trimEnd());
    }
    case 'format':
      return at(
        `invalid_${String(params.format).replace(/^idn-/, '').replaceAll('-', '_')}`,
        `${name} must be ${FORMATS[String(params.format)] ?? params.format}.`,
      );
    case 'pattern':
      return at('invalid_format', `${name} must ${patternRule(parentSchema)}`);
    case 'oneOf': {
      const alternatives = (error.schema as { required?: string[] }[]).flatMap(
        ({ required = [] }) => required,
      );
      return at('invalid', `${name} needs exactly one of ${alternatives.join(', ')}.`);
    }
    case 'minLength':
      return at('too_short', `${name} must have at least ${characters(params.limit)}.`);
    case 'maxLength':
      return at('too_long', `${name} must have at most ${characters(params.limit)}.`);
    case MAX_FOLDED_LENGTH:
      return at('too_long', `${name} ${tooLongOnceFolded(Number(error.schema))}`);
    case 'minItems':
    case 'minProperties':
      return at('too_few_items', `${name} must have at least ${items(params.limit)}.`);
    case 'maxItems':
      return at('too_many_items', `${name} must have at most ${items(params.limit)}.`);
    case 'minimum':
    case 'formatMinimum':
      return at('too_small', `${name} must be ${params.limit} or more.`);
    case 'maximum':
    case 'formatMaximum':
      return at('too_large', `${name} must be ${params.limit} or less.`);
    case 'exclusiveMaximum':
      return at('too_large', `${name} must be less than ${params.limit}.`);
    default:
      return at('invalid', `${name} ${error.message ?? 'is not valid'}.`);
  }
}

const FORMATS: Record<string, string> = {
  date: 'a date that exists, written YYYY-MM-DD',
  'date-time': 'a date and time with an offset, such as 2026-01-31T12:00:00Z',
  'idn-email': 'an email address',
  'ip-address': 'an IPv4 or IPv6 address',
  'ip-range': 'an IPv4 or IPv6 address, or a CIDR block such as 192.0.2.0/24',
};

function patternRule({ pattern, title }: ErrorObject['parentSchema'] & object = {}): string {
  if (title !== undefined) return `be ${title}`;
  return pattern === ID_PATTERN
    ? 'have 1 to 128 characters of A-Z a-z 0-9 . _ : -'
    : 'be a decimal number that is not negative, such as 1234.56';
}

const withArticle = (type: string) => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);
const characters = (count: unknown) => (count === 1 ? '1 character' : `${count} characters`);
const items = (count: unknown) => (count === 1 ? '1 item' : `${count} items`);

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    return 'a number too large to be kept';
  }
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction';
  return withArticle(typeof value);
}
