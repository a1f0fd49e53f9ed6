/** Rows of contacts that are not stored yet, prepared before the writer has them: all but their SQL is pure. */
import type { ContactRecord } from '../../../contacts/schema.js';
import { searchableValues } from '../../../contacts/searchable.js';
import { applyRecord, contactJson, type StoredContact } from '../../../contacts/stored-contact.js';
import { isDeletion, type OrderedRecord } from '../../../shared/record-order.js';
import { RecordRejectedError } from '../../../shared/store-errors.js';
import type { TermEncoder } from '../text/term-encoder.js';
import { CONTACT_COLUMNS, contactColumns } from './mapping.js';

/** What is written of a contact that is not stored yet. */
export interface NewContact {
  organization: number;
  id: string;
  createdMs: number;
  updatedMs: number;
  recordOrder: string | null;
  /** The contact as JSON. */
  body: string;
  /** In normal form. */
  country: string | null;
  audienceIds: readonly string[];
  /** Of the text index. */
  columns: string[];
  /** Words for the vocabulary. */
  words: Iterable<string>;
}

export function newContactOf(text: TermEncoder, organization: number, stored: StoredContact): NewContact {
  const { body, createdMs, updatedMs, recordOrder, audienceIds } = stored;
  const values = searchableValues(body);
  const columns = contactColumns(text, body, values);
  return {
    organization,
    id: body.id,
    createdMs,
    updatedMs,
    recordOrder,
    body: contactJson(stored),
    country: values.country,
    audienceIds,
    columns,
    words: text.takeWords(),
  };
}

/** A record with the contact that it makes where none is stored. */
export interface PreparedRecord {
  organizationId: string;
  acceptedAt: number;
  /** Of the vocabulary that has all words of the contact but those to be added. */
  vocabularyVersion: number;
  contact: NewContact;
  /** The record itself, for a contact that is stored. */
  parse(): OrderedRecord<ContactRecord>;
}

/** Ends each field: decoded records have none, and JSON and terms escape it. */
const END = '\0';
const FIELDS = 11 + CONTACT_COLUMNS.length;
const UNPREPARED = END.repeat(FIELDS);

/**
 * Prepares records as text for `readPrepared`, which costs less to send than objects. Those of organizations that are not stored yet,
 * deletions, and records that are rejected are not prepared.
 */
export function prepareContacts(
  records: readonly OrderedRecord<ContactRecord>[],
  vocabularyVersion: number,
  organizationOf: (id: string) => { key: number; text: TermEncoder } | undefined,
): string {
  rows.add(`${vocabularyVersion}\0`);
  for (const ordered of records) {
    const organizationId = ordered.record.organization_id;
    const organization = organizationOf(organizationId);
    const stored = organization && storedFrom(ordered);
    if (!stored) {
      rows.add(UNPREPARED);
      continue;
    }
    const contact = newContactOf(organization.text, organization.key, stored);
    let words = '';
    for (const word of contact.words) words += words === '' ? word : ` ${word}`;
    const audienceIds = contact.audienceIds.length === 0 ? '' : JSON.stringify(contact.audienceIds);
    let text = `${organizationId}\0${ordered.acceptedAt}\0${contact.organization}\0${contact.id}\0${contact.createdMs}\0`;
    text += `${contact.updatedMs}\0${contact.recordOrder}\0${contact.body}\0${audienceIds}\0${words}\0${contact.country ?? ''}\0`;
    for (const column of contact.columns) text += `${column}\0`;
    rows.add(text);
  }
  return rows.take();
}

/** Of the rows of most messages. */
const INITIAL_BYTES = 2 * 1024 * 1024;
const MAX_KEPT_BYTES = 8 * INITIAL_BYTES;

/** Joins texts as bytes, since a text of parts keeps every part in memory until it is read, and makes garbage collections slow. */
class TextBuffer {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  #length = 0;

  add(text: string): void {
    // UTF-8 has at most three bytes for a UTF-16 code unit.
    const needed = this.#length + 3 * text.length;
    if (needed > this.#buffer.length) this.#grow(2 * needed);
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** The joined text; the next one begins empty. */
  take(): string {
    const text = this.#buffer.toString('utf8', 0, this.#length);
    this.#length = 0;
    if (this.#buffer.length > MAX_KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(INITIAL_BYTES);
    return text;
  }

  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafe(bytes);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Allocated once, as a new one would be cleared by the kernel page by page. */
const rows = new TextBuffer();

/** The contact that a record makes of none; undefined where it makes none, or is rejected. */
function storedFrom(ordered: OrderedRecord<ContactRecord>): StoredContact | undefined {
  try {
    const stored = applyRecord(undefined, ordered);
    return stored === null || isDeletion(stored) ? undefined : stored;
  } catch (error) {
    if (error instanceof RecordRejectedError) return undefined;
    throw error;
  }
}

/** Records as they were sent, and as `prepareContacts` prepared them. */
export function readPrepared(
  json: string,
  prepared: string,
): (PreparedRecord | OrderedRecord<ContactRecord>)[] {
  let records: OrderedRecord<ContactRecord>[] | undefined;
  const parse = (index: number) => {
    records ??= JSON.parse(json) as OrderedRecord<ContactRecord>[];
    return records[index] as OrderedRecord<ContactRecord>;
  };
  const fields = prepared.split(END);
  const vocabularyVersion = Number(fields.shift());
  return Array.from({ length: Math.floor(fields.length / FIELDS) }, (_, index) => {
    const at = index * FIELDS;
    const field = (offset: number) => fields[at + offset] as string;
    if (field(0) === '') return parse(index);
    return {
      organizationId: field(0),
      acceptedAt: Number(field(1)),
      vocabularyVersion,
      contact: {
        organization: Number(field(2)),
        id: field(3),
        createdMs: Number(field(4)),
        updatedMs: Number(field(5)),
        recordOrder: field(6),
        body: field(7),
        audienceIds: field(8) === '' ? [] : (JSON.parse(field(8)) as string[]),
        words: field(9) === '' ? [] : field(9).split(' '),
        country: field(10) === '' ? null : field(10),
        columns: fields.slice(at + 11, at + FIELDS),
      },
      parse: () => parse(index),
    };
  });
}
