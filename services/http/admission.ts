/**
 * Admission control: limits concurrent requests and their memory, in total and per key, and the duration of each. A request releases
 * what it holds at its deadline at the latest, whatever client, handler or store do.
 */
import type { Context } from 'koa';
import { Problem } from './problems.js';

const MIB = 1024 * 1024;

/** A key has a share of each limit, so that it cannot starve others. */
export interface AdmissionLimit {
  total: number;
  perKey: number;
}

export const ADMISSION_LIMITS = {
  /** Slots of operations whose body has arrived. */
  slots: { total: 1000, perKey: 500 },
  /** Requests whose body is still arriving; an ingest request counts until it is answered. */
  bodies: { total: 1000, perKey: 200 },
  /** Bytes of these bodies, after decompression. */
  bodyBytes: { total: 256 * MIB, perKey: 64 * MIB },
  /** Bytes of responses that clients have not read yet. */
  responseBytes: { total: 256 * MIB, perKey: 64 * MIB },
  /** Exports, each of which holds a page of a few megabytes. */
  exports: { total: 8, perKey: 4 },
} satisfies Record<string, AdmissionLimit>;

type Resource = keyof typeof ADMISSION_LIMITS;
export type AdmissionLimits = Record<Resource, AdmissionLimit>;

const REASONS: Record<Resource, [noun: string, state: string]> = {
  slots: ['requests', 'are in progress'],
  bodies: ['request bodies', 'are arriving'],
  bodyBytes: ['bytes of request bodies', 'are in memory'],
  responseBytes: ['bytes of responses', 'are unread'],
  exports: ['exports', 'are running'],
};

/** What requests hold: one of them, all of one key, or all. */
export type Usage = Record<Resource | 'requests', number>;

export const noUsage = (): Usage => ({
  requests: 0,
  slots: 0,
  bodies: 0,
  bodyBytes: 0,
  responseBytes: 0,
  exports: 0,
});

const RETRY = { 'Retry-After': '1' };

/** Created once: capturing a stack per request is expensive. */
const REQUEST_ENDED = new DOMException('The request has ended.', 'AbortError');

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
  async run<T>(ctx: Context, keyId: string, work: (request: AdmittedRequest) => Promise<T>): Promise<T> {
    const key = this.#keys.get(keyId) ?? noUsage();
    const request = new AdmittedRequest(this, keyId, key);
    request.enter();
    this.#keys.set(keyId, key);
    ctx.res.once('close', () => request.closed());
    try {
      return await new Promise<T>((resolve, reject) => {
        request.deadline = setTimeout(() => reject(expired(ctx, this.#timeoutMs)), this.#timeoutMs);
        work(request).then(resolve, reject);
      });
    } finally {
      request.release();
    }
  }

  /** Drops the usage of a key that holds nothing. */
  forget(keyId: string, key: Usage): void {
    if (key.requests === 0 && key.responseBytes === 0) this.#keys.delete(keyId);
  }
}

/** What one request holds. Once released, it takes and holds nothing but its response. */
export class AdmittedRequest {
  deadline: NodeJS.Timeout | undefined;
  readonly #admission: Admission;
  readonly #key: Usage;
  readonly #keyId: string;
  readonly #held = noUsage();
  readonly #controller = new AbortController();
  #isReleased = false;
  #isClosed = false;

  constructor(admission: Admission, keyId: string, key: Usage) {
    this.#admission = admission;
    this.#keyId = keyId;
    this.#key = key;
  }

  /** Aborted when the client disconnects, at the deadline, and when the response is ready. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Throws 503 when too many bodies are arriving. */
  enter(): void {
    this.acquire('bodies', 1);
    this.#hold('requests', 1);
  }

  /** Throws 503 above the limit. */
  acquire(resource: Resource, amount: number): void {
    if (this.#isReleased) return;
    this.#requireRoom(resource, amount);
    this.#hold(resource, amount);
  }

  /** Releases the body and acquires slots. Throws 503 when there are not enough, or too much of earlier responses is unread. */
  startWork(slots: number): void {
    this.#drop('bodies');
    this.#drop('bodyBytes');
    this.#requireRoom('responseBytes', 0);
    this.acquire('slots', slots);
  }

  /** The client of an export has read another chunk: its deadline moves. */
  progressed(): void {
    if (!this.#isReleased) this.deadline?.refresh();
  }

  /** Counts the bytes of the response until the client has read them. Only the response of a read may be rejected, with 503. */
  countResponse(bytes: number, { isRead }: { isRead: boolean }): void {
    if (this.#isClosed) return;
    if (isRead) this.#requireRoom('responseBytes', bytes);
    this.#hold('responseBytes', bytes);
  }

  /** The response was read, or the client disconnected, which aborts the request. */
  closed(): void {
    this.#isClosed = true;
    this.#controller.abort(REQUEST_ENDED);
    this.#drop('responseBytes');
    this.#admission.forget(this.#keyId, this.#key);
  }

  /** Releases everything except the response, and aborts the signal. */
  release(): void {
    clearTimeout(this.deadline);
    this.#isReleased = true;
    this.#controller.abort(REQUEST_ENDED);
    for (const resource of ['requests', 'slots', 'bodies', 'bodyBytes', 'exports'] as const) {
      this.#drop(resource);
    }
    this.#admission.forget(this.#keyId, this.#key);
  }

  #requireRoom(resource: Resource, amount: number): void {
    const { total, limits } = this.#admission;
    const levels = [
      { used: total[resource], limit: limits[resource].total, whose: '' },
      { used: this.#key[resource], limit: limits[resource].perKey, whose: ' of this key' },
    ];
    for (const { used, limit, whose } of levels) {
      // A response larger than the limit is sent when it is the only one.
      if (used + amount <= limit || (resource === 'responseBytes' && used === 0)) continue;
      const [noun, state] = REASONS[resource];
      throw new Problem('overloaded', `Too many ${noun}${whose} ${state}; try again shortly.`, {}, RETRY);
    }
  }

  #hold(resource: keyof Usage, amount: number): void {
    for (const usage of [this.#held, this.#key, this.#admission.total]) usage[resource] += amount;
  }

  #drop(resource: keyof Usage): void {
    const amount = this.#held[resource];
    for (const usage of [this.#held, this.#key, this.#admission.total]) usage[resource] -= amount;
  }
}

function expired(ctx: Context, timeoutMs: number): Problem {
  const seconds = timeoutMs / 1000;
  return ctx.req.complete
    ? new Problem('timeout', `The request took longer than ${seconds} s.`)
    : new Problem('request_timeout', `The body did not arrive within ${seconds} s.`, {}, RETRY);
}
