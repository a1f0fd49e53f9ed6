/** Clients that create, read and send records while something is broken, and record what was acknowledged. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from '../support/gateway.js';
import { until } from '../support/until.js';
import { AUDIENCE, BALANCE, type ClusterStack, ORGANIZATION } from './cluster-stack.js';

const CREATE_MS = 250;
const READ_MS = 100;
const INGEST_MS = 500;
const RECORDS = 5;
/** Maximum concurrent requests of one kind, so that hanging requests do not pile up in the client. */
const MAX_CONCURRENT = 60;
const RETRY_MS = 1000;
const CREDITS = 3;
const DRAIN = { pollMs: 1000, timeoutMs: 300_000 };

export type Kind = 'read' | 'create' | 'ingest';

interface Response {
  kind: Kind;
  /** 0 if the connection broke. */
  status: number;
  retries: boolean;
  /** Milliseconds, on the clock of `performance.now()`. */
  begun: number;
  tookMs: number;
}

/** Results of one kind of request, as clients saw them. */
export interface Seen {
  count: number;
  /** Number of responses other than 200, by status. */
  failed: Record<number, number>;
  slowestOkMs: number;
  slowestFailedMs: number;
  /** Number of 503 responses without `Retry-After`. */
  unretriable: number;
  /** When the last response other than 200 ended. */
  lastFailure: number;
}

export class Traffic {
  readonly #stack: ClusterStack;
  readonly #name: string;
  readonly #responses: Response[] = [];
  readonly #created: { name: string; id: string }[] = [];
  readonly #sent: string[] = [];
  readonly #lostReads: string[] = [];
  readonly #pending = new Set<Promise<void>>();
  readonly #running: Promise<unknown>;
  #next = 0;
  #stopping = false;

  /** `name` has letters and digits, and is the beginning of the contacts' names. */
  constructor(stack: ClusterStack, name: string) {
    this.#stack = stack;
    this.#name = name;
    this.#running = Promise.all([
      this.#every(CREATE_MS, () => this.#create()),
      this.#every(READ_MS, () => this.#read()),
      this.#every(INGEST_MS, () => this.#ingest()),
    ]);
  }

  /** Resolves once every create is acknowledged; requests with a key are repeated. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
    await Promise.all(this.#pending);
  }

  seen(kind: Kind, from: number, to: number): Seen {
    const chosen = this.#responses.filter(
      (each) => each.kind === kind && each.begun >= from && each.begun < to,
    );
    // 409 means that an earlier request with the key is still running.
    const failed = chosen.filter(({ status }) => status !== 200 && status !== 409);
    const codes: Record<number, number> = {};
    for (const { status } of failed) codes[status] = (codes[status] ?? 0) + 1;
    const slowest = (list: Response[]) => Math.round(Math.max(0, ...list.map(({ tookMs }) => tookMs)));
    return {
      count: chosen.length,
      failed: codes,
      slowestOkMs: slowest(chosen.filter(({ status }) => status === 200)),
      slowestFailedMs: slowest(failed),
      unretriable: failed.filter(({ status, retries }) => status === 503 && !retries).length,
      lastFailure: Math.max(0, ...failed.map(({ begun, tookMs }) => begun + tookMs)),
    };
  }

  /** Compares what is stored with what was acknowledged, once no request is in flight. Resolves with the differences. */
  async check(): Promise<string[]> {
    const { search, elasticsearch } = this.#stack;
    const problems = [...this.#lostReads];
    let missing: string[] = [];
    let ids = new Map<string, string>();
    const arrived = async () => {
      ids = await this.#export('/api/contacts/search');
      const visits = await this.#export('/api/website-visits/search');
      missing = this.#sent.filter((id) => !ids.has(id) || !visits.has(id));
      return missing.length === 0;
    };
    await until(arrived, 'the workers have caught up', DRAIN).catch(() => undefined);
    problems.push(...missing.map((id) => `${id} was acknowledged and is lost`));
    const made = [...ids].filter(([id]) => id.startsWith('con_'));
    const names = new Map<string, number>();
    for (const [, name] of made) names.set(name, (names.get(name) ?? 0) + 1);
    for (const [name, count] of names) if (count > 1) problems.push(`${name} was created ${count} times`);
    for (const { id, name } of this.#created) {
      if (ids.get(id) !== name) problems.push(`${name} was acknowledged and is lost`);
    }
    interface Account {
      balance: number;
      reservations: unknown[];
    }
    const { indexPrefix } = elasticsearch;
    let account: Account | undefined;
    const isSettled = async () => {
      const found = await search.get<Account>({ index: `${indexPrefix}-accounts`, id: ORGANIZATION });
      account = found._source;
      return account?.reservations.length === 0;
    };
    await until(isSettled, 'every reservation is closed', DRAIN).catch((error: Error) =>
      problems.push(error.message),
    );
    const expected = BALANCE - CREDITS * made.length;
    if (account?.balance !== expected)
      problems.push(`credits are ${account?.balance} instead of ${expected}`);
    const isFree = async () => {
      const lock = await search.get<{ lease_until: number }>(
        { index: `${indexPrefix}-migrations`, id: 'rebuild' },
        { ignore: [404] },
      );
      return (lock._source?.lease_until ?? 0) <= Date.now();
    };
    await until(isFree, 'the lock of migrations is free', DRAIN).catch((error: Error) =>
      problems.push(error.message),
    );
    return problems;
  }

  async #every(intervalMs: number, request: () => Promise<void>): Promise<void> {
    const running = new Set<Promise<void>>();
    while (!this.#stopping) {
      if (running.size < MAX_CONCURRENT) {
        const one = request();
        running.add(one);
        this.#pending.add(one);
        void one.finally(() => {
          running.delete(one);
          this.#pending.delete(one);
        });
      }
      await pause(intervalMs);
    }
  }

  async #call(kind: Kind, number: number, request: (gateway: Gateway) => Promise<Answer>) {
    const gateway = this.#stack.gateways[number % this.#stack.gateways.length] as Gateway;
    const begun = performance.now();
    const answer = await request(gateway).catch(() => null);
    const tookMs = performance.now() - begun;
    const retries = answer?.headers.has('Retry-After') ?? false;
    this.#responses.push({ kind, status: answer?.status ?? 0, retries, begun, tookMs });
    return answer;
  }

  /** Every second create has an idempotency key, and is repeated on the other gateway until it is acknowledged. */
  async #create(): Promise<void> {
    const number = this.#next++;
    const name = `${this.#name}${String(number).padStart(6, '0')}`;
    const headers: Record<string, string> = number % 2 === 0 ? { 'Idempotency-Key': name } : {};
    const body = {
      organization_id: ORGANIZATION,
      audience_id: AUDIENCE,
      first_name: name,
      work_emails: [`${name}@example.com`],
    };
    for (let attempt = 0; ; attempt++) {
      const path = `/api/contacts/create?required_credits=${CREDITS}`;
      const answer = await this.#call('create', number + attempt, (gateway) =>
        gateway.call(path, body, { headers }),
      );
      if (answer?.status === 200) {
        this.#created.push({ name, id: String(answer.body.contact_id) });
        return;
      }
      if (number % 2 === 1) return;
      await pause(RETRY_MS);
    }
  }

  async #read(): Promise<void> {
    const number = this.#next++;
    const latest = this.#created.at(-1);
    const one = number % 4 < 2 ? latest : this.#created[Math.floor(Math.random() * this.#created.length)];
    if (!one) return;
    const isGet = number % 2 === 0;
    const answer = await this.#call('read', number >> 1, (gateway) =>
      isGet
        ? gateway.call('/api/contacts/get', { organization_id: ORGANIZATION, contact_id: one.id })
        : gateway.call('/api/contacts/search', { organization_id: ORGANIZATION, first_name: one.name }),
    );
    const isMissing = answer?.status === 404 || (answer?.status === 200 && !answer.text.includes(one.id));
    if (isMissing) this.#lostReads.push(`${isGet ? 'a get' : 'a search'} did not find ${one.name}`);
  }

  async #ingest(): Promise<void> {
    const number = this.#next++;
    const ids = Array.from({ length: RECORDS }, (_, index) => `${this.#name}-${number}-${index}`);
    const createdAt = new Date().toISOString();
    const contacts = ids.map((contact_id) => ({ contact_id, first_name: contact_id }));
    const visits = ids.map((id) => ({ id, createdAt, startUrl: `https://example.com/${id}` }));
    const stored = await this.#call('ingest', number, (gateway) => gateway.ingest('contacts', contacts));
    const visited = await this.#call('ingest', number, (gateway) => gateway.ingest('website-visits', visits));
    if (stored?.body.accepted === RECORDS && visited?.body.accepted === RECORDS) this.#sent.push(...ids);
  }

  /** Ids with first names, from a complete export by one gateway. */
  async #export(path: string): Promise<Map<string, string>> {
    const [gateway] = this.#stack.gateways;
    const answer = await (gateway as Gateway).call(
      path,
      { organization_id: ORGANIZATION },
      { headers: { Accept: 'application/x-ndjson' } },
    );
    const records = answer.text.split('\n').filter(Boolean);
    return new Map(
      records.map((line) => {
        const { id, first_name } = JSON.parse(line) as { id: string; first_name?: string };
        return [id, first_name ?? ''];
      }),
    );
  }
}

type Gateway = ClusterStack['gateways'][number];
