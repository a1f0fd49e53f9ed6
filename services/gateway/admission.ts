/**
 * Admission control: limits concurrent requests and their memory, in total and per key, and the duration of each. A request releases
 * what it holds at its deadline at the latest, whatever client, handler or store do.
 */
import type { Context } from 'koa';
import { Problem } from '../http/problems.js';

const MIB = 1024 * 1024;

export interface AdmissionLimits {
  /** Slots of operations whose body has arrived. */
  slots: number;
  slotsPerKey: number;
  /** Requests whose body is still arriving; an ingest request counts until it is answered. */
  bodies: number;
  bodiesPerKey: number;
  /** Bytes of these bodies, after decompression. */
  bodyBytes: number;
  bodyBytesPerKey: number;
  /** Bytes of responses that clients have not read yet. */
  answerBytes: number;
  answerBytesPerKey: number;
  /** Exports, each of which holds a page of a few megabytes. */
  exports: number;
  exportsPerKey: number;
}

/** A key has a share of each limit, so that it cannot starve others. */
export const ADMISSION_LIMITS: AdmissionLimits = {
  slots: 1000,
  slotsPerKey: 500,
  bodies: 1000,
  bodiesPerKey: 200,
  bodyBytes: 256 * MIB,
  bodyBytesPerKey: 64 * MIB,
  answerBytes: 256 * MIB,
  answerBytesPerKey: 64 * MIB,
  exports: 8,
  exportsPerKey: 4,
};

const RETRY = { 'Retry-After': '1' };

/** Created once: capturing a stack per request is expensive. */
const REQUEST_ENDED = new DOMException('The request has ended.', 'AbortError');

/** What requests hold, of one key or in total. */
export interface Usage {
  requests: number;
  slots: number;
  bodies: number;
  bodyBytes: number;
  answerBytes: number;
  exports: number;
}

export const noUsage = (): Usage => ({
  requests: 0,
  slots: 0,
  bodies: 0,
  bodyBytes: 0,
  answerBytes: 0,
  exports: 0,
});

export class Admission {
  readonly total = noUsage();
  readonly limits: AdmissionLimits;
  readonly #timeoutMs: number;
  readonly #keys = new Map<string, Usage>();

  constructor(timeoutMs: number, limits: AdmissionLimits = ADMISSION_LIMITS) {
    this.#timeoutMs = timeoutMs;
    this.limits = limits;
  }

  /**
   * Runs a request with a deadline: rejects with 408 when its body has not arrived by then, else with 504. Throws 503 when too many
   * bodies are arriving. The deadline of an export moves with its progress.
   */
  run(ctx: Context, keyId: string, work: (request: AdmittedRequest) => Promise<void>): Promise<void> {
    const request = this.#enter(ctx, keyId);
    return new Promise((resolve, reject) => {
      request.deadline = setTimeout(() => {
        request.release();
        request.abort();
        reject(expired(ctx, this.#timeoutMs));
      }, this.#timeoutMs);
      work(request).then(
        () => {
          request.release();
          resolve();
        },
        (error: unknown) => {
          request.release();
          reject(error);
        },
      );
    });
  }

  #enter(ctx: Context, keyId: string): AdmittedRequest {
    const { total, limits } = this;
    let key = this.#keys.get(keyId);
    if (total.bodies >= limits.bodies) throw overloaded('Too many request bodies are arriving');
    if (key === undefined) {
      key = noUsage();
      this.#keys.set(keyId, key);
    } else if (key.bodies >= limits.bodiesPerKey) {
      throw overloaded(`${limits.bodiesPerKey} request bodies of this key are arriving`);
    }
    const request = new AdmittedRequest(this, key, keyId);
    ctx.state.admitted = request;
    return request;
  }

  /** Drops the usage of a key that holds nothing. */
  forget(keyId: string, key: Usage): void {
    if (key.requests === 0 && key.answerBytes === 0) this.#keys.delete(keyId);
  }
}

/** What one request holds. */
export class AdmittedRequest {
  readonly #admission: Admission;
  readonly #key: Usage;
  readonly #keyId: string;
  #bodies = 1;
  #bodyBytes = 0;
  #slots = 0;
  #released = false;
  #exports = 0;
  #answerBytes = 0;
  #closed = false;
  #controller: AbortController | undefined;
  /**
   * Not a function that moves it: V8 allocates a function that is assigned to a property among old objects, where it and the whole
   * request would be garbage until the next full collection.
   */
  deadline: NodeJS.Timeout | undefined;

  constructor(admission: Admission, key: Usage, keyId: string) {
    this.#admission = admission;
    this.#key = key;
    this.#keyId = keyId;
    admission.total.requests++;
    admission.total.bodies++;
    key.requests++;
    key.bodies++;
  }

  /** Aborted when the client disconnects, at the deadline, and when the response is ready. Created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#released) this.#controller.abort(REQUEST_ENDED);
    }
    return this.#controller.signal;
  }

  /** Counts bytes of the body. Throws 503 above the limit. */
  receive(bytes: number): void {
    if (this.#released) return;
    const { total, limits } = this.#admission;
    if (total.bodyBytes + bytes > limits.bodyBytes) {
      throw overloaded(`${limits.bodyBytes} bytes of request bodies are in memory`);
    }
    if (this.#key.bodyBytes + bytes > limits.bodyBytesPerKey) {
      throw overloaded(`${limits.bodyBytesPerKey} bytes of request bodies of this key are in memory`);
    }
    this.#bodyBytes += bytes;
    total.bodyBytes += bytes;
    this.#key.bodyBytes += bytes;
  }

  /** Releases the body and acquires slots. Throws 503 when there are not enough. */
  bodyArrived(slots: number): void {
    if (this.#released) return;
    this.#releaseBody();
    const { total, limits } = this.#admission;
    if (total.slots + slots > limits.slots) throw overloaded('Too many requests are in progress');
    if (this.#key.slots + slots > limits.slotsPerKey) {
      throw overloaded('Too many requests of this key are in progress');
    }
    this.#slots = slots;
    total.slots += slots;
    this.#key.slots += slots;
  }

  /** Throws 503 when too many exports are running. */
  startExport(): void {
    if (this.#released) return;
    const { total, limits } = this.#admission;
    if (total.exports >= limits.exports) throw overloaded('Too many exports are running');
    if (this.#key.exports >= limits.exportsPerKey) {
      throw overloaded(`${limits.exportsPerKey} exports of this key are running`);
    }
    this.#exports = 1;
    total.exports++;
    this.#key.exports++;
  }

  progressed(): void {
    if (!this.#released) this.deadline?.refresh();
  }

  /** Counts the response until `closed`. Throws 503 above the limit; a response larger than the limit is sent when it is the only one. */
  answer(bytes: number): void {
    if (this.#closed) return;
    const { total, limits } = this.#admission;
    const key = this.#key;
    if (total.answerBytes > 0 && total.answerBytes + bytes > limits.answerBytes) {
      throw overloaded(`${limits.answerBytes} bytes of responses are unread`);
    }
    if (key.answerBytes > 0 && key.answerBytes + bytes > limits.answerBytesPerKey) {
      throw overloaded(`${limits.answerBytesPerKey} bytes of responses of this key are unread`);
    }
    total.answerBytes += bytes;
    key.answerBytes += bytes;
    this.#answerBytes = bytes;
  }

  /** The response was read, or the client disconnected, which aborts the request. */
  closed(): void {
    this.#closed = true;
    if (!this.#released) this.abort();
    if (this.#answerBytes === 0) return;
    this.#admission.total.answerBytes -= this.#answerBytes;
    this.#key.answerBytes -= this.#answerBytes;
    this.#answerBytes = 0;
    this.#admission.forget(this.#keyId, this.#key);
  }

  /** Releases everything except the response, and aborts the signal. */
  release(): void {
    if (this.#released) return;
    clearTimeout(this.deadline);
    this.#controller?.abort(REQUEST_ENDED);
    this.#releaseBody();
    this.#released = true;
    const { total } = this.#admission;
    total.requests--;
    total.slots -= this.#slots;
    this.#key.requests--;
    this.#key.slots -= this.#slots;
    total.exports -= this.#exports;
    this.#key.exports -= this.#exports;
    this.#admission.forget(this.#keyId, this.#key);
  }

  abort(): void {
    this.#controller?.abort(REQUEST_ENDED);
  }

  #releaseBody(): void {
    if (this.#bodies === 0) return;
    this.#bodies = 0;
    const { total } = this.#admission;
    total.bodies--;
    this.#key.bodies--;
    total.bodyBytes -= this.#bodyBytes;
    this.#key.bodyBytes -= this.#bodyBytes;
  }
}

function expired(ctx: Context, timeoutMs: number): Problem {
  const seconds = timeoutMs / 1000;
  return ctx.req.complete
    ? new Problem('timeout', `The request took longer than ${seconds} s.`, {}, RETRY)
    : new Problem('request_timeout', `The body did not arrive within ${seconds} s.`, {}, RETRY);
}

function overloaded(reason: string): Problem {
  return new Problem('overloaded', `${reason}; try again shortly.`, {}, RETRY);
}
