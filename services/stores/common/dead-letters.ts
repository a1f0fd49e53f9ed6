/** Rejected records of HTTP ingest, kept to be mended and sent again. Those of Kafka are in its dead-letter topics. */
import { DAY_MS } from '../../shared/time.js';

/** Per organization; the oldest go first. The age is that of the dead-letter topics. */
export const DEAD_LETTER_LIMITS = { records: 10_000, bytes: 16 * 1024 * 1024, ageMs: 30 * DAY_MS };
/** What is left above a limit, so that not every record that is added deletes another. */
export const DEAD_LETTER_TARGET_RATIO = 0.9;

/** The stored form, in every store. */
export interface StoredDeadLetter {
  id: string;
  organizationId: string;
  stream: string;
  code: string;
  /** JSON Pointer into the record, '' for all of it. */
  pointer: string;
  detail: string;
  /** Line of the request, or position in its array, from 1. */
  line: number;
  /** Times it was rejected. */
  attempts: number;
  /** Its order (`OrderedRecord`), also when it is sent again. */
  acceptedAt: number;
  sequence: number;
  /** As received, or a row of CSV as JSON; base64 where it is not UTF-8. */
  value: string;
  encoding: 'utf8' | 'base64';
  /** Size of a record that was too large; `value` is then its beginning. Else null. */
  truncatedFrom: number | null;
  /** Name of the mapping of the request, which `value` is not mapped with yet. */
  mapping?: string;
}

export interface DeadLetterQuery {
  /** All organizations when absent. */
  organizationId?: string;
  /** Those behind this record. */
  after?: StoredDeadLetter;
  limit: number;
}

export interface DeadLetterStore {
  /** Keeps records, and deletes the oldest of their organizations above `DEAD_LETTER_LIMITS`. */
  keepDeadLetters(records: readonly StoredDeadLetter[]): Promise<void>;
  /** Oldest first. */
  listDeadLetters(query: DeadLetterQuery): Promise<StoredDeadLetter[]>;
  deleteDeadLetters(ids: readonly string[]): Promise<void>;
}

/** What the record may say of a person, without the escapes of JSON. */
export function deadLetterText({ value, encoding, detail }: StoredDeadLetter): string {
  const text = encoding === 'utf8' ? value : Buffer.from(value, encoding).toString('latin1');
  const plain = text
    .replaceAll('\\/', '/')
    .replace(/\\u([0-9a-f]{4})/gi, (_, unit) => String.fromCharCode(Number.parseInt(unit, 16)));
  return `${plain} ${detail}`;
}

/** A record has 1 MiB at most. */
const RECORDS_PER_PAGE = 50;

/** All of them, page by page, oldest first. */
export async function* storedDeadLetters(
  store: Pick<DeadLetterStore, 'listDeadLetters'>,
  organizationId?: string,
): AsyncGenerator<StoredDeadLetter[]> {
  for (let after: StoredDeadLetter | undefined; ; ) {
    const records = await store.listDeadLetters({ organizationId, after, limit: RECORDS_PER_PAGE });
    if (records.length > 0) yield records;
    if (records.length < RECORDS_PER_PAGE) return;
    after = records.at(-1);
  }
}
