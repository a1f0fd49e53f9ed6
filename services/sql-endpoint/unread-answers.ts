/** Responses that clients have not read yet. Their memory is bounded, and a client that reads too slowly is disconnected. */
import type { ServerResponse } from 'node:http';
import { CODE, SqlError } from './errors.js';

const MIB = 1024 * 1024;

/** Maximum bytes of responses in memory, in total and per organization. */
const MAX_BYTES = { total: 400 * MIB, perOrganization: 200 * MIB };
/** Bytes below which a response is always sent: the number of connections limits the number of such responses. */
const SMALL_BYTES = 64 * 1024;
/** Bytes that a client must read within `stallMs`, so that no client holds a response for long. */
const PIECE_BYTES = MIB;
const STALL_MS = 60_000;

export interface UnreadAnswersOptions {
  maxBytes?: { total: number; perOrganization: number };
  stallMs?: number;
}

export class UnreadAnswers {
  readonly #maxBytes: { total: number; perOrganization: number };
  readonly #stallMs: number;
  readonly #ofOrganizations = new Map<string, number>();
  #total = 0;

  constructor({ maxBytes = MAX_BYTES, stallMs = STALL_MS }: UnreadAnswersOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#stallMs = stallMs;
  }

  /**
   * Counts a response until it is closed. Throws `SqlError` 202 if there is no room. A response larger than a limit is accepted if no other
   * response is counted.
   */
  hold(organizationId: string, bytes: number, response: ServerResponse): void {
    const own = this.#ofOrganizations.get(organizationId) ?? 0;
    const { total, perOrganization } = this.#maxBytes;
    const isTooMuch = (held: number, max: number) => held > 0 && held + bytes > max;
    if (bytes > SMALL_BYTES && (isTooMuch(own, perOrganization) || isTooMuch(this.#total, total))) {
      const detail = 'Too many bytes of earlier answers are unread; read them, or try again shortly';
      throw new SqlError(CODE.TOO_MANY_SIMULTANEOUS_QUERIES, detail);
    }
    if (response.closed) return;
    this.#count(organizationId, bytes);
    response.once('close', () => this.#count(organizationId, -bytes));
  }

  #count(organizationId: string, bytes: number): void {
    this.#total += bytes;
    const own = (this.#ofOrganizations.get(organizationId) ?? 0) + bytes;
    if (own === 0) this.#ofOrganizations.delete(organizationId);
    else this.#ofOrganizations.set(organizationId, own);
  }

  /** Ends the response with the bytes. Disconnects a client that takes too long to read a piece of the bytes. */
  async send(response: ServerResponse, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !response.destroyed; at += PIECE_BYTES) {
      const isTaken = response.write(bytes.subarray(at, at + PIECE_BYTES));
      if (!isTaken) await this.#happens(response, 'drain');
    }
    if (response.destroyed) return;
    const finished = this.#happens(response, 'finish');
    response.end();
    await finished;
  }

  /** Resolves at the event, or when the response is closed, which happens after `stallMs`. */
  #happens(response: ServerResponse, event: 'drain' | 'finish'): Promise<void> {
    return new Promise((resolve) => {
      const stalled = setTimeout(() => response.destroy(), this.#stallMs);
      const settle = () => {
        clearTimeout(stalled);
        response.off(event, settle).off('close', settle);
        resolve();
      };
      response.once(event, settle).once('close', settle);
    });
  }
}
