import type { TObject, TSchema } from 'typebox';
import {
  decimalText,
  isTooMuchMoney,
  MAX_MONEY,
  MONEY_PATTERN,
  readMoney,
} from '../services/advertising/money.js';
import { domainOf } from '../services/search/normalize.js';
import { isObject } from '../services/shared/json.js';
import { strictObject } from '../services/shared/schema.js';
import type { UnknownFields } from '../services/shared/settings.js';
import { DAY_MS, parseTimestamp } from '../services/shared/time.js';
import type { FieldError } from '../services/shared/validation.js';
import { compileValidator } from '../services/shared/validation.js';
import { type DeadLetter, type DecodeOutcome, deadLetter, NOT_DECODABLE, ok } from './records/outcome.js';
import { parseJson } from './records/parse-json.js';
import type { RawRecord } from './records/raw-record.js';
import type { Stream } from './streams/stream.js';

/** Decides to which organization records belong. */
export interface OrganizationRule {
  /** Organization of records that name none. */
  organizationId?: string;
  /** Whether a record may name another organization. */
  others: 'reject' | 'allow';
}

/** Decodes a raw record. `acceptedAt` (milliseconds since the epoch) and `sequence` order the record (contract 6.2). */
export type Decode = (raw: RawRecord, acceptedAt: number, sequence: number) => DecodeOutcome<object>;
type Fields = Record<string, unknown>;

// Matches characters that no store can hold. The u flag makes \p{Cs} match only unpaired surrogates.
const unstorable = /\0|\p{Cs}/u;

/** Changes the parsed value of a record, or rejects it. */
export type Open = (value: unknown, raw: RawRecord) => { value: unknown } | DeadLetter;

export interface DecodeOptions {
  open?: Open;
  /** Called with an error that decoding threw, which is a fault of the program. The record is rejected. */
  onFault?(error: unknown): void;
  /** Whether fields that the stream does not have are left out. Default: `reject`. */
  unknownFields?: UnknownFields;
}

/**
 * Compiles the decoder of a stream, which parses, normalizes and validates a raw record (contract 6.1). The decoder has no side effects
 * except `onFault`, and never throws.
 */
export function decoder(stream: Stream, rule: OrganizationRule, options: DecodeOptions = {}): Decode {
  const decode = unguardedDecoder(stream, rule, options);
  return (raw, acceptedAt, sequence) => {
    try {
      return decode(raw, acceptedAt, sequence);
    } catch (error) {
      options.onFault?.(error);
      return NOT_DECODABLE;
    }
  };
}

function unguardedDecoder(
  stream: Stream,
  rule: OrganizationRule,
  { open, unknownFields }: DecodeOptions = {},
): Decode {
  const validate = compileValidator(stream.schema);
  const required = new Set((stream.schema as TObject).required ?? []);
  const moneyFields = stream.moneyFields ?? [];
  const quoteLongMoney = moneyFields.length === 0 ? undefined : longNumberQuoter(moneyFields);
  const { organizationField, derivedFields = [], aliases = {} } = stream;
  const decodeDeletion = sharedDeletionDecoder(stream);
  const { properties } = stream.schema as TObject;
  const clockFields = CLOCK_FIELDS.filter((name) => name in properties);

  return (raw, acceptedAt, sequence) => {
    const parsed = parse(raw, { prepare: quoteLongMoney, open }, acceptedAt, sequence);
    if (parsed.kind !== 'ok') return parsed;
    const fields = parsed.record;
    for (const name of derivedFields) delete fields[name];
    for (const name in aliases) if (fields[name] === fields[aliases[name] as string]) delete fields[name];
    const unstorable = normalizeFields(fields, required);
    if (unstorable) return unstorable;
    if (rule.organizationId !== undefined) fields[organizationField] ??= rule.organizationId;
    const isDeletion = fields.deleted === true;
    if (fields.deleted === false || fields.deleted === null) delete fields.deleted;
    if (isDeletion) {
      const deletion = decodeDeletion(fields);
      if (deletion.kind !== 'ok') return deletion;
      parsed.record = deletion.record;
    }
    for (const field of moneyFields) {
      if (normalizeMoney(fields, field)) parsed.isRounded = true;
      if (isTooMuch(fields[field])) return tooMuchMoney(field);
    }
    if (unknownFields === 'ignore' && !isDeletion) {
      for (const name of Object.keys(fields)) {
        if (Object.hasOwn(properties, name)) continue;
        delete fields[name];
        parsed.hadUnknownFields = true;
      }
    }
    const errors = isDeletion ? [] : validate(fields);
    if (errors.length > 0) return rejectionOf(errors);
    if (rule.others === 'reject' && fields[organizationField] !== rule.organizationId) {
      return deadLetter(
        'organization_mismatch',
        `/${organizationField}`,
        'The record names another organization than the one the API key belongs to.',
      );
    }
    const wrongClock = checkClocks(parsed.record, clockFields, acceptedAt);
    if (wrongClock) return wrongClock;
    if (isDeletion) return parsed;
    const broken = stream.check?.(fields, acceptedAt);
    if (broken) return rejectionOf([broken]);
    stream.normalize?.(fields);
    if (stream.domainField && !normalizeDomainField(fields, stream.domainField))
      parsed.hadInvalidDomain = true;
    return parsed;
  };
}

const CLOCK_FIELDS = ['updated_at', 'reported_at', 'created_at', 'createdAt'];
const OLDEST_TIME = '2000-01-01T00:00:00Z';
const OLDEST_TIME_MS = Date.parse(OLDEST_TIME);

/** Rejects times in the future, because such a record would make every later record of its key ineffective (contract 6.1). */
function checkClocks(record: Fields, names: readonly string[], acceptedAt: number): DeadLetter | null {
  for (const name of names) {
    const time = record[name];
    if (typeof time !== 'string') continue;
    const ms = parseTimestamp(time);
    if (ms < OLDEST_TIME_MS) return deadLetter('too_old', `/${name}`, `${name} is before ${OLDEST_TIME}.`);
    if (ms > acceptedAt + DAY_MS) {
      const detail = `${name} is more than 24 hours after the record was accepted.`;
      return deadLetter('in_the_future', `/${name}`, detail);
    }
  }
  return null;
}

const NOT_DELETABLE = deadLetter(
  'not_deletable',
  '/deleted',
  'Records of this stream cannot be deleted by a record.',
);

type DecodeDeletion = (fields: Fields) => DeadLetter | { kind: 'ok'; record: Fields };

const deletionDecoderOf = new WeakMap<TSchema, DecodeDeletion>();

/** One deletion decoder per schema, because Ajv keeps every schema that it has compiled, and requests make streams of their own. */
function sharedDeletionDecoder(stream: Stream): DecodeDeletion {
  let decode = deletionDecoderOf.get(stream.schema);
  if (!decode) {
    decode = deletionDecoder(stream);
    deletionDecoderOf.set(stream.schema, decode);
  }
  return decode;
}

/**
 * Keeps the parts of a deletion: the fields that identify the record, and its version. Change-capture sources repeat the other fields of
 * the deleted row.
 */
function deletionDecoder({ schema, organizationField, deletableBy }: Stream): DecodeDeletion {
  if (!deletableBy) return () => NOT_DELETABLE;
  const { properties } = schema as TObject;
  const names = [organizationField, ...deletableBy, 'updated_at', 'deleted'];
  const known = Object.fromEntries(names.map((name) => [name, properties[name] as TSchema]));
  const validate = compileValidator(strictObject(known));
  return (fields) => {
    const record = Object.fromEntries(
      names.filter((name) => name in fields).map((name) => [name, fields[name]]),
    );
    const errors = validate(record);
    return errors.length > 0 ? rejectionOf(errors) : { kind: 'ok', record };
  };
}

function parse(
  raw: RawRecord,
  { prepare, open }: { prepare?: (text: string) => string; open?: Open },
  acceptedAt: number,
  sequence: number,
): DecodeOutcome<Fields> {
  let value: unknown = raw.mapped ?? raw.value;
  if (value === undefined) {
    const parsed = parseJson(raw.bytes, prepare);
    if ('code' in parsed) return parsed;
    value = parsed.value;
  }
  if (open) {
    const opened = open(value, raw);
    if ('code' in opened) return opened;
    value = opened.value;
  }
  if (!isObject(value)) return deadLetter('not_an_object', '', 'A record is a JSON object.');
  return ok(value, acceptedAt, sequence);
}

/**
 * Trims strings, drops blank entries of lists, and turns blank strings into null (contract 1.4). Deletes a required field that is null or
 * blank, so that validation says "required". Returns a dead letter for text that no store can hold.
 */
function normalizeFields(fields: Fields, required: ReadonlySet<string>): DeadLetter | null {
  for (const name in fields) {
    let value = fields[name];
    if (typeof value === 'string') {
      if (unstorable.test(value)) return invalidText(name);
      const trimmed = value.trim();
      value = trimmed === '' ? null : trimmed;
      fields[name] = value;
    } else if (Array.isArray(value)) {
      if (value.some((entry) => typeof entry === 'string' && unstorable.test(entry))) {
        return invalidText(name);
      }
      fields[name] = value
        .map((entry) => (typeof entry === 'string' ? entry.trim() : entry))
        .filter((entry) => entry !== '');
    }
    if (value === null && required.has(name)) delete fields[name];
  }
  return null;
}

const invalidText = (name: string) =>
  deadLetter(
    'invalid_text',
    `/${name}`,
    `${name} holds a NUL character or half of a surrogate pair, which text cannot hold.`,
  );

/** A rejection with the code and pointer of the first error. The detail also lists the other errors. */
function rejectionOf(errors: FieldError[]): DeadLetter {
  const [first, ...rest] = errors as [FieldError, ...FieldError[]];
  const others = rest.length === 0 ? '' : ` Also: ${rest.map(({ detail }) => detail).join(' ')}`;
  return deadLetter(first.code, first.pointer, first.detail + others);
}

/**
 * Returns a function that quotes the numbers of money fields with more than 15 characters, which JSON.parse would round. Quotes within a
 * string are escaped, so only field names match.
 */
function longNumberQuoter(names: readonly string[]): (text: string) => string {
  const longNumber = new RegExp(
    `("(?:${names.join('|')})"\\s*:\\s*)(?=[0-9.]{16})([0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)(?=[\\s,}])`,
    'g',
  );
  return (text) =>
    text.replace(longNumber, (_, name: string, number: string) => `${name}"${decimalText(number)}"`);
}

const moneyText = new RegExp(MONEY_PATTERN);
const isTooMuch = (value: unknown): boolean =>
  typeof value === 'string' && moneyText.test(value) && isTooMuchMoney(value);

const tooMuchMoney = (field: string) =>
  deadLetter('out_of_range', `/${field}`, `${field} must be less than ${BigInt(MAX_MONEY)}.`);

/** Turns an amount into the stored text, and returns whether the amount was rounded. Leaves other values to validation. */
function normalizeMoney(fields: Fields, field: string): boolean {
  const value = fields[field];
  if (typeof value !== 'number' && typeof value !== 'string') return false;
  const amount = readMoney(value);
  if (amount === null) return false;
  fields[field] = amount.text;
  return amount.isRounded;
}

/** Normalizes a domain to the stored text. If the text is not a domain, deletes the field and returns false. */
function normalizeDomainField(fields: Fields, field: string): boolean {
  const given = fields[field];
  if (typeof given !== 'string') return true;
  const domain = domainOf(given);
  if (domain !== null) fields[field] = domain;
  else delete fields[field];
  return domain !== null;
}
