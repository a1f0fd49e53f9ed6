/**
 * Admission control: limits the number, memory and duration of the requests of this process, in total, per organization and per key. Two
 * gateways together allow twice as much. SQL statements have a separate queue (`sql-endpoint/fair-mutex.ts`). A request releases its
 * resources at its deadline at the latest, whatever the client, handler or store does.
 */
import type { Context } from 'koa';
import type { Principal } from './principal.js';
import { Problem } from './problems.js';

const MIB = 1024 * 1024;

/** Limit of a resource. Organizations and keys have a share of each limit, so that none of them can starve the others. */
export interface AdmissionLimit {
  total: number;
  perOrganization: number;
  perKey: number;
  /** Part of the total that is reserved for organizations that hold nothing yet. */
  reserved?: number;
}

export const ADMISSION_LIMITS = {
  /** Slots of operations whose body has arrived. */
  slots: { total: 1000, perOrganization: 750, perKey: 500 },
  /** Requests whose body is still arriving. An ingest request counts until its response is sent. */
  bodies: { total: 1000, perOrganization: 400, perKey: 200 },
  /** Bytes of arriving bodies, after decompression. */
  bodyBytes: { total: 256 * MIB, perOrganization: 128 * MIB, perKey: 64 * MIB },
  /** Bytes of responses that clients have not read yet. */
  responseBytes: { total: 256 * MIB, perOrganization: 128 * MIB, perKey: 64 * MIB },
  /**
   * Bytes of bodies in temporary files: compressed bodies, and bodies with `on_reject=fail`. There is room for one body of 1 GiB that is
   * compressed and has `on_reject=fail`.
   */
  temporaryBytes: { total: 2048 * MIB, perOrganization: 1280 * MIB, perKey: 1152 * MIB },
  /** Exports; each holds a page of a few megabytes. */
  exports: { total: 8, perOrganization: 2, perKey: 2, reserved: 1 },
} satisfies Record<string, AdmissionLimit>;

/** Minimum rate of an export, in bytes per second over a minute. A slower export ends if another organization needs its slot. */
export const MIN_EXPORT_RATE = 64 * 1024;
const EXPORT_WINDOW_MS = 60_000;

/** Receives the costs of a request that are known only after it began. */
export interface RequestCosts {
  /** Called with the size of the body as received. */
  received(bytes: number): void;
  /** Called with the size of a response that is stored for an idempotency key. */
  kept(bytes: number): void;
}

const NO_COSTS: RequestCosts = { received: () => undefined, kept: () => undefined };

/** Sender of a request. */
export type Caller = Pick<Principal, 'keyId' | 'organizationId'>;

type Resource = keyof typeof ADMISSION_LIMITS;
export type AdmissionLimits = Record<Resource, AdmissionLimit>;

const REASONS: Record<Resource, [noun: string, state: string, advice?: string]> = {
  slots: ['requests', 'are in progress'],
  bodies: ['request bodies', 'are arriving'],
  bodyBytes: ['bytes of request bodies', 'are in memory'],
  responseBytes: ['bytes of responses', 'are unread'],
  temporaryBytes: [
    'bytes of temporary files',
    'are in use',
    'None of these records was accepted. Send them again later, in smaller bodies, or without compression and on_reject=fail.',
  ],
  exports: ['exports', 'are running'],
};

/** Resources in use by one request, a key, an organization, or all requests. */
export type Usage = Record<Resource | 'requests', number>;

export const noUsage = (): Usage => ({
  requests: 0,
  slots: 0,
  bodies: 0,
  bodyBytes: 0,
  responseBytes: 0,
  temporaryBytes: 0,
  exports: 0,
});

/** Created once, because capturing a stack trace per request is expensive. */
const REQUEST_ENDED = new DOMException('The request has ended.', 'AbortError');

/** Requests that share a limit. */
interface Scope {
  limit: 'total' | 'perOrganization' | 'perKey';
  whose: string;
  id: string;
  usage: Usage;
}

export class Admission {
  readonly total = noUsage();
  readonly limits: AdmissionLimits;
  /** Monotonic time in milliseconds. */
  readonly now: () => number;
  readonly exports = new Set<AdmittedRequest>();
  /** Maximum bytes of records of one request. */
  maxIngestBytes = 1024 * MIB;
  readonly #timeoutMs: number;
  /** Resources in use by organizations and keys, each with its number of open requests. */
  readonly #usages = new Map<string, { usage: Usage; open: number }>();

  constructor(
    timeoutMs: number,
    limits: AdmissionLimits = ADMISSION_LIMITS,
    now: () => number = () => performance.now(),
  ) {
    this.#timeoutMs = timeoutMs;
    this.limits = limits;
    this.now = now;
  }

  /**
   * Runs a request with a deadline. At the deadline, the request ends with 408 if its body has not arrived, otherwise with 504. Throws 503
   * if too many bodies are arriving. Progress of an export moves its deadline.
   */
  async run<T>(
    ctx: Context,
    { organizationId, keyId }: Caller,
    work: (request: AdmittedRequest) => Promise<T>,
    costs = NO_COSTS,
  ): Promise<T> {
    const own = [
      this.#open('perOrganization', ' of this organization', organizationId),
      this.#open('perKey', ' of this key', keyId),
    ];
    const scopes: Scope[] = [{ limit: 'total', whose: '', id: '', usage: this.total }, ...own];
    const request = new AdmittedRequest(this, scopes, costs, () => this.#close(own));
    // The client may have disconnected during the look-up of its key; in that case, no event follows.
    if (ctx.res.closed) request.closed();
    else ctx.res.once('close', () => request.closed());
    try {
      request.enter();
      return await new Promise<T>((resolve, reject) => {
        request.reject = reject;
        const end = () => reject(request.atDeadline(expired(ctx, this.#timeoutMs)));
        request.deadline = setTimeout(end, this.#timeoutMs);
        work(request).then(resolve, reject);
      });
    } finally {
      request.release();
    }
  }

  #open(limit: Scope['limit'], whose: string, name: string): Scope {
    const id = `${limit} ${name}`;
    const shared = this.#usages.get(id) ?? { usage: noUsage(), open: 0 };
    shared.open++;
    this.#usages.set(id, shared);
    return { limit, whose, id, usage: shared.usage };
  }

  /** A usage stays in the map until its last request has ended, so that all requests count into the same usage. */
  #close(scopes: readonly Scope[]): void {
    for (const { id } of scopes) {
      const shared = this.#usages.get(id);
      if (shared && --shared.open === 0) this.#usages.delete(id);
    }
  }

  /** Ends the slowest export of the organization with the most exports, if its client reads too slowly. */
  endSlowExport(): boolean {
    const [slowest] = [...this.exports]
      .filter((request) => request.exportRate() < MIN_EXPORT_RATE)
      .sort((a, b) => b.organizationExports - a.organizationExports || a.exportRate() - b.exportRate());
    slowest?.reject(new Problem('overloaded', 'The export was read too slowly while others waited.'));
    slowest?.release();
    return slowest !== undefined;
  }
}

/** Resources that one request holds. After `release`, the request holds only its response. */
export class AdmittedRequest {
  deadline: NodeJS.Timeout | undefined;
  /** Ends the request. */
  reject: (reason: Problem) => void = () => undefined;
  /** Adds details to the problem that the deadline of the request causes. */
  atDeadline: (problem: Problem) => Problem = (problem) => problem;
  readonly costs: RequestCosts;
  readonly #onOver: () => void;
  readonly #admission: Admission;
  readonly #scopes: readonly Scope[];
  readonly #held = noUsage();
  readonly #controller = new AbortController();
  #isReleased = false;
  #isClosed = false;
  /** Bytes that the client of an export read in this window, and its rate in the previous window. */
  #window = { startedAt: 0, bytes: 0, lastRate: Number.POSITIVE_INFINITY };

  /** `onOver` is called once, when the request is released and its response is closed. */
  constructor(admission: Admission, scopes: readonly Scope[], costs: RequestCosts, onOver: () => void) {
    this.#admission = admission;
    this.#scopes = scopes;
    this.costs = costs;
    this.#onOver = onOver;
  }

  /** Aborted if the client disconnects, the deadline passes or the request fails, and once the response is sent. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Throws 503 if too many bodies are arriving. */
  enter(): void {
    this.acquire('bodies', 1);
    this.#hold('requests', 1);
  }

  /** Acquires an amount of a resource. Throws 503 above the limit. */
  acquire(resource: Resource, amount: number): void {
    if (this.#isReleased) return;
    this.#requireRoom(resource, amount);
    this.#hold(resource, amount);
  }

  /** Accounting for the temporary files of this request. */
  readonly temporarySpace = {
    /** Throws 503 if there is no room for this many bytes now. */
    require: (bytes: number): void => this.#requireRoom('temporaryBytes', bytes),
    /** Acquires bytes of temporary files. Throws 503 above the limit. */
    take: (bytes: number): void => this.acquire('temporaryBytes', bytes),
    release: (bytes: number): void => {
      if (!this.#isReleased) this.#hold('temporaryBytes', -bytes);
    },
  };

  /**
   * Releases the body and acquires slots. Throws 503 if there are not enough slots, or if clients have left too many bytes of earlier
   * responses unread.
   */
  startWork(slots: number): void {
    this.#drop('bodies');
    this.#drop('bodyBytes');
    this.#requireRoom('responseBytes', 0);
    this.acquire('slots', slots);
  }

  /** Throws 503 if too many exports run, and the client of none of them reads too slowly. */
  startExport(): void {
    if (this.#isReleased) return;
    const refusal = this.#refusal('exports', 1);
    if (refusal?.limit === 'total') this.#admission.endSlowExport();
    this.acquire('exports', 1);
    this.#window.startedAt = this.#admission.now();
    this.#admission.exports.add(this);
  }

  /** Maximum bytes of records of this request. */
  get maxIngestBytes(): number {
    return this.#admission.maxIngestBytes;
  }

  /** Moves the deadline, because another MiB of records was processed. */
  moveDeadline(): void {
    if (!this.#isReleased) this.deadline?.refresh();
  }

  /** Moves the deadline of an export, because the client has read another chunk. */
  progressed(bytes: number): void {
    if (this.#isReleased) return;
    this.deadline?.refresh();
    this.#window.bytes += bytes;
    const elapsed = this.#admission.now() - this.#window.startedAt;
    if (elapsed < EXPORT_WINDOW_MS) return;
    this.#window = { startedAt: this.#admission.now(), bytes: 0, lastRate: this.exportRate() };
  }

  /** Bytes per second over the last complete minute; infinite in the first minute. */
  exportRate(): number {
    const { startedAt, bytes, lastRate } = this.#window;
    const elapsed = this.#admission.now() - startedAt;
    return elapsed < EXPORT_WINDOW_MS ? lastRate : (bytes / elapsed) * 1000;
  }

  /** Number of running exports of the organization that sends this request. */
  get organizationExports(): number {
    return this.#usageOf('perOrganization').exports;
  }

  /** Counts the bytes of the response until the client has read them. Only the response of a read may be rejected, with 503. */
  countResponse(bytes: number, { isRead }: { isRead: boolean }): void {
    if (this.#isClosed) return;
    if (isRead) this.#requireRoom('responseBytes', bytes);
    this.#hold('responseBytes', bytes);
  }

  /** Called when the client has read the response or has disconnected. A disconnect aborts a running request. */
  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isReleased) this.#onOver();
    else this.#controller.abort(REQUEST_ENDED);
    this.#drop('responseBytes');
  }

  /** Releases everything except the response. */
  release(): void {
    clearTimeout(this.deadline);
    if (this.#isReleased) return;
    this.#isReleased = true;
    // Stores count responses as in flight until this signal is aborted.
    this.#controller.abort(REQUEST_ENDED);
    this.#admission.exports.delete(this);
    for (const resource of [
      'requests',
      'slots',
      'bodies',
      'bodyBytes',
      'temporaryBytes',
      'exports',
    ] as const) {
      this.#drop(resource);
    }
    if (this.#isClosed) this.#onOver();
  }

  #requireRoom(resource: Resource, amount: number): void {
    const refusal = this.#refusal(resource, amount);
    if (!refusal) return;
    const [noun, state, advice = 'Try again shortly.'] = REASONS[resource];
    throw new Problem('overloaded', `Too many ${noun}${refusal.whose} ${state}. ${advice}`);
  }

  /** The narrowest scope that has no room for the amount; undefined if all scopes have room. */
  #refusal(resource: Resource, amount: number): Scope | undefined {
    const limits: AdmissionLimit = this.#admission.limits[resource];
    return this.#scopes.findLast(({ limit, usage }) => {
      const used = usage[resource];
      // A response larger than the limit is sent if no other response is unread.
      if (resource === 'responseBytes' && used === 0) return false;
      const isKept = limit === 'total' && this.#usageOf('perOrganization')[resource] > 0;
      return used + amount > limits[limit] - (isKept ? (limits.reserved ?? 0) : 0);
    });
  }

  #usageOf(limit: Scope['limit']): Usage {
    return this.#scopes.find((scope) => scope.limit === limit)?.usage ?? noUsage();
  }

  #hold(resource: keyof Usage, amount: number): void {
    this.#held[resource] += amount;
    for (const { usage } of this.#scopes) usage[resource] += amount;
  }

  #drop(resource: keyof Usage): void {
    this.#hold(resource, -this.#held[resource]);
  }
}

function expired(ctx: Context, timeoutMs: number): Problem {
  const seconds = timeoutMs / 1000;
  return ctx.req.complete
    ? new Problem('timeout', `The request took longer than ${seconds} s.`)
    : new Problem('request_timeout', `The body did not arrive within ${seconds} s.`);
}
