/**
 * Admission control: how much may be under way at once, in all and per key, and for how long. Whatever a client, a handler or
 * a store does, a request gives back what it holds when its time is up.
 */
import type { Context } from 'koa';
import { Problem } from '../http/problems.js';

const MIB = 1024 * 1024;

export interface AdmissionLimits {
  /** Slots of operations whose body is there. */
  slots: number;
  slotsPerKey: number;
  /** Requests whose body is still arriving, and ingest requests until they are answered. */
  bodies: number;
  bodiesPerKey: number;
  /** Bytes of those bodies, after decompression. */
  bodyBytes: number;
  bodyBytesPerKey: number;
  /** Bytes of answers that their clients have not read yet. */
  answerBytes: number;
  answerBytesPerKey: number;
}

/** No key can use up what the others need. */
export const ADMISSION_LIMITS: AdmissionLimits = {
  slots: 1000,
  slotsPerKey: 500,
  bodies: 1000,
  bodiesPerKey: 200,
  bodyBytes: 256 * MIB,
  bodyBytesPerKey: 64 * MIB,
  answerBytes: 256 * MIB,
  answerBytesPerKey: 64 * MIB,
};

const RETRY = { 'Retry-After': '1' };

/** Made once, as its stack would cost every request. */
const OVER = new DOMException('The request is over.', 'AbortError');

/** What is held, by one key or by all. */
export interface Usage {
  requests: number;
  slots: number;
  bodies: number;
  bodyBytes: number;
  answerBytes: number;
}

export class Admission {
  readonly total: Usage = { requests: 0, slots: 0, bodies: 0, bodyBytes: 0, answerBytes: 0 };
  readonly limits: AdmissionLimits;
  readonly #timeoutMs: number;
  readonly #keys = new Map<string, Usage>();

  constructor(timeoutMs: number, limits: AdmissionLimits = ADMISSION_LIMITS) {
    this.#timeoutMs = timeoutMs;
    this.limits = limits;
  }

  /**
   * Runs a request until it settles or its time is up: 408 while the body is still arriving, else 504. Throws 503 when too much
   * is under way.
   */
  run(ctx: Context, keyId: string, work: (request: AdmittedRequest) => Promise<void>): Promise<void> {
    const request = this.#enter(ctx, keyId);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        request.release();
        request.abort();
        reject(expired(ctx, this.#timeoutMs));
      }, this.#timeoutMs);
      const end = () => {
        clearTimeout(timer);
        request.release();
      };
      work(request).then(
        () => {
          end();
          resolve();
        },
        (error: unknown) => {
          end();
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
      key = { requests: 0, slots: 0, bodies: 0, bodyBytes: 0, answerBytes: 0 };
      this.#keys.set(keyId, key);
    } else if (key.bodies >= limits.bodiesPerKey) {
      throw overloaded(`${limits.bodiesPerKey} request bodies of this key are arriving`);
    }
    const request = new AdmittedRequest(this, key, keyId);
    ctx.state.admitted = request;
    return request;
  }

  /** A key that holds nothing is forgotten. */
  forget(keyId: string, key: Usage): void {
    if (key.requests === 0 && key.answerBytes === 0) this.#keys.delete(keyId);
  }
}

/** What one request holds of the process. */
export class AdmittedRequest {
  readonly #admission: Admission;
  readonly #key: Usage;
  readonly #keyId: string;
  #bodies = 1;
  #bodyBytes = 0;
  #slots = 0;
  #released = false;
  #answerBytes = 0;
  #closed = false;
  #controller: AbortController | undefined;

  constructor(admission: Admission, key: Usage, keyId: string) {
    this.#admission = admission;
    this.#key = key;
    this.#keyId = keyId;
    admission.total.requests++;
    admission.total.bodies++;
    key.requests++;
    key.bodies++;
  }

  /** Aborted when the client leaves, the time is up, or the answer is ready. Made only when asked for. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#released) this.#controller.abort(OVER);
    }
    return this.#controller.signal;
  }

  /** Counts bytes of a body. Throws 503 when too many are under way. */
  receive(bytes: number): void {
    if (this.#released) return;
    const { total, limits } = this.#admission;
    if (total.bodyBytes + bytes > limits.bodyBytes) {
      throw overloaded(`${limits.bodyBytes} bytes of requests are under way`);
    }
    if (this.#key.bodyBytes + bytes > limits.bodyBytesPerKey) {
      throw overloaded(`${limits.bodyBytesPerKey} bytes of requests of this key are under way`);
    }
    this.#bodyBytes += bytes;
    total.bodyBytes += bytes;
    this.#key.bodyBytes += bytes;
  }

  /** The body is there: gives its place back and takes slots instead. Throws 503 when there are none. */
  bodyArrived(slots: number): void {
    if (this.#released) return;
    this.#leaveBody();
    const { total, limits } = this.#admission;
    if (total.slots + slots > limits.slots) throw overloaded('Too many requests are under way');
    if (this.#key.slots + slots > limits.slotsPerKey) {
      throw overloaded('Too many requests of this key are under way');
    }
    this.#slots = slots;
    total.slots += slots;
    this.#key.slots += slots;
  }

  /** Counts an answer until `closed`. Throws 503 when too much of others waits to be read. */
  answer(bytes: number): void {
    if (this.#closed) return;
    const { total, limits } = this.#admission;
    const key = this.#key;
    if (total.answerBytes > 0 && total.answerBytes + bytes > limits.answerBytes) {
      throw overloaded(`${limits.answerBytes} bytes of answers wait to be read`);
    }
    if (key.answerBytes > 0 && key.answerBytes + bytes > limits.answerBytesPerKey) {
      throw overloaded(`${limits.answerBytesPerKey} bytes of answers of this key wait to be read`);
    }
    total.answerBytes += bytes;
    key.answerBytes += bytes;
    this.#answerBytes = bytes;
  }

  /** The client has read the answer, or left, in which case what is not ready is given up. */
  closed(): void {
    this.#closed = true;
    if (!this.#released) this.abort();
    if (this.#answerBytes === 0) return;
    this.#admission.total.answerBytes -= this.#answerBytes;
    this.#key.answerBytes -= this.#answerBytes;
    this.#answerBytes = 0;
    this.#admission.forget(this.#keyId, this.#key);
  }

  /** Gives everything back but answers, and lets stores know that the request is over. */
  release(): void {
    if (this.#released) return;
    this.#controller?.abort(OVER);
    this.#leaveBody();
    this.#released = true;
    const { total } = this.#admission;
    total.requests--;
    total.slots -= this.#slots;
    this.#key.requests--;
    this.#key.slots -= this.#slots;
    this.#admission.forget(this.#keyId, this.#key);
  }

  abort(): void {
    this.#controller?.abort(OVER);
  }

  #leaveBody(): void {
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
