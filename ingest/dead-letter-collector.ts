import { isUtf8 } from 'node:buffer';
import { newId } from '../services/shared/ids.js';
import type { Acceptance } from '../services/shared/record-order.js';
import { DEAD_LETTER_LIMITS, type StoredDeadLetter } from '../services/stores/common/dead-letters.js';
import type { RejectedRecord } from './pipeline.js';
import type { RawRecord } from './records/raw-record.js';

/** Bytes that a dead letter keeps of a line, key, value or header that is too long. */
export const TRUNCATED_BYTES = 1024;

/** Gathers the rejected records of one input in the form in which they are kept; the first ones, up to `DEAD_LETTER_LIMITS`. */
export class DeadLetterCollector {
  readonly letters: StoredDeadLetter[] = [];
  readonly #stream: string;
  readonly #organizationId: string;
  readonly #acceptance: Acceptance;
  readonly #mapping: string | undefined;
  #bytes = 0;
  #beginning: Buffer | undefined;
  #overlongBytes = 0;

  constructor(stream: string, organizationId: string, acceptance: Acceptance, mapping?: string) {
    this.#mapping = mapping;
    this.#stream = stream;
    this.#organizationId = organizationId;
    this.#acceptance = acceptance;
  }

  /** A piece of an over-long line but the last. */
  addPiece(piece: Buffer): void {
    this.#beginning ??= Buffer.from(piece.subarray(0, TRUNCATED_BYTES));
    this.#overlongBytes += piece.length;
  }

  add({ line, code, pointer, detail }: RejectedRecord, raw: RawRecord): void {
    const { now, sequence } = this.#acceptance;
    const acceptedAt = now();
    let bytes = raw.untouched ?? raw.bytes;
    // A row of CSV says nothing without its header. Without a mapping to be replayed with, it is kept as the record that it became.
    const row = this.#mapping === undefined ? (raw.mapped ?? raw.value) : raw.value;
    if (row !== undefined) bytes = Buffer.from(JSON.stringify(row));
    const truncatedFrom = raw.overlong ? this.#overlongBytes + bytes.length : null;
    if (raw.overlong) bytes = (this.#beginning ?? bytes).subarray(0, TRUNCATED_BYTES);
    this.#beginning = undefined;
    this.#overlongBytes = 0;
    this.#bytes += bytes.length;
    if (this.letters.length >= DEAD_LETTER_LIMITS.records || this.#bytes > DEAD_LETTER_LIMITS.bytes) return;
    const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
    this.letters.push({
      id: newId('rej', acceptedAt),
      organizationId: this.#organizationId,
      stream: this.#stream,
      code,
      pointer,
      detail,
      line,
      attempts: 1,
      acceptedAt,
      sequence: sequence + line,
      value: bytes.toString(encoding),
      encoding,
      truncatedFrom,
      mapping: this.#mapping,
    });
  }
}
