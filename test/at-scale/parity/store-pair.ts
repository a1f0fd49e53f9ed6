/** A gateway on embedded stores and one on servers, which get the same requests at the same times. */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { sql } from '../../../services/shared/sql.js';
import type { Clock } from '../../../services/shared/time.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import type { FuzzRequest } from '../../gateway/generated.js';
import { type Received, send } from '../../gateway/send.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import { wordsOf } from '../../support/words.js';
import { type TestIndices, testIndices } from '../elasticsearch/support.js';
import { startGatewayOn } from '../start-gateway.js';

/** The compared headers. */
const HEADERS = wordsOf(
  'content-type idempotency-replayed x-ignored-fields retry-after www-authenticate allow',
);
/** The field of a response with the id of what was created, by path. */
const CREATED_ID: Record<string, string> = {
  '/api/contacts/create': 'contact_id',
  '/api/audiences/create': 'audience_id',
};
const STEP_MS = 10;
const MAX_SHOWN = 20_000;
const idLike = /(?:con|aud)_[0-9a-z]{26}/g;
const requestId = /req_[0-9a-z]{26}/g;
/** Each installation has its own secret for hashes, and a cluster removes the bytes of a person later. */
const proofId = /era_[0-9a-z]{26}/g;
const identifierHash = /"[0-9a-f]{64}"/g;
const completedAt = /"completed_at":(?:null|"[^"]+")/g;

/** A gateway, and the ids of contacts and audiences that it created. */
class Member {
  readonly gateway: TestGateway;
  readonly agent = new Agent({ keepAlive: true });
  readonly createdIds: string[] = [];

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
  }

  send(request: FuzzRequest): Promise<Received> {
    return send(this.gateway.url, this.agent, request);
  }

  /** The response with created ids numbered, cursors decoded, and without differences between installations. */
  transcript({ status, headers, text }: Received): string {
    const compared = HEADERS.map((name) => headers[name] ?? '').join('|');
    const read = text
      .replace(nextCursor, (_, cursor: string) => `"next_cursor":${open(cursor)}`)
      .replace(requestId, 'req')
      .replace(proofId, 'era')
      .replace(identifierHash, '"hash"')
      .replace(completedAt, '"completed_at":0');
    const numbered = read.replace(idLike, (id) => {
      const number = this.createdIds.indexOf(id);
      return number < 0 ? id : `created_${number}`;
    });
    return `${status} ${compared}\n${numbered}`;
  }

  async close(): Promise<void> {
    this.agent.destroy();
    await this.gateway.close();
  }
}

const nextCursor = /"next_cursor":"([\w-]+)"/g;
const open = (cursor: string) => Buffer.from(cursor, 'base64url').toString();
const cursorIn = (text: string) => /"next_cursor":"([\w-]+)"/.exec(text)?.[1];

export interface PairResult {
  embedded: Received;
  /** Null when both responses are equal. */
  difference: string | null;
}

export class GatewayPair {
  readonly #embedded: Member;
  readonly #atScale: Member;
  readonly #time: { now: number };
  /** Cursors of the embedded gateway → corresponding cursors of the other. */
  readonly #cursors = new Map<string, string>();

  readonly #haveJobsEnded: () => Promise<boolean>;

  private constructor(
    embedded: Member,
    atScale: Member,
    time: { now: number },
    haveJobsEnded: () => Promise<boolean>,
  ) {
    this.#embedded = embedded;
    this.#atScale = atScale;
    this.#time = time;
    this.#haveJobsEnded = haveJobsEnded;
  }

  /** Both accept the same API key. */
  static async start(now: number): Promise<GatewayPair> {
    const time = { now };
    const clock: Clock = { now: () => time.now };
    const embedded = new Member(await startTestGateway({}, clock));
    const indices = testIndices();
    const atScale = new Member(await startGatewayOn(indices, {}, clock));
    const { items } = await embedded.gateway.stores.records.listKeys({ limit: 1000, now });
    for (const key of items) {
      await atScale.gateway.stores.records.insertKey(key);
    }
    return new GatewayPair(embedded, atScale, time, jobsOf(embedded, indices));
  }

  get key(): string {
    return this.#embedded.gateway.key;
  }

  /** Ids of contacts created so far, in the embedded gateway. */
  get createdIds(): readonly string[] {
    return this.#embedded.createdIds.filter((id) => id.startsWith('con_'));
  }

  async setCredits(balance: number): Promise<void> {
    for (const { gateway } of [this.#embedded, this.#atScale]) {
      await gateway.stores.records.setCredits('org_a', balance);
    }
  }

  /** Sends to both at the same time, each with its own ids and cursors. Every request advances the clock. */
  async send(request: FuzzRequest): Promise<PairResult> {
    this.#time.now += STEP_MS;
    const [embedded, atScale] = await Promise.all([
      this.#embedded.send(request),
      this.#atScale.send(this.#translated(request)),
    ]);
    this.#recordIds(request, embedded, atScale);
    // The job of such a request changes contacts after the response, each at the time of the job's step.
    if (/^\/api\/audiences\/(?:create|delete)/.test(request.path))
      await until(this.#haveJobsEnded, 'the jobs have ended');
    const one = this.#embedded.transcript(embedded);
    const other = this.#atScale.transcript(atScale);
    return { embedded, difference: one === other ? null : describeDifference(one, other) };
  }

  /** The request with the ids and cursors of the gateway on servers. */
  #translated(request: FuzzRequest): FuzzRequest {
    const text = request.body.toString('latin1');
    const body = text
      .replace(idLike, (id) => this.#atScale.createdIds[this.#embedded.createdIds.indexOf(id)] ?? id)
      .replace(/"cursor":"([\w-]+)"/g, (all, cursor: string) => {
        const own = this.#cursors.get(cursor);
        return own === undefined ? all : `"cursor":"${own}"`;
      });
    return body === text ? request : { ...request, body: Buffer.from(body, 'latin1') };
  }

  #recordIds({ path }: FuzzRequest, embedded: Received, atScale: Received): void {
    if (embedded.status !== 200 || atScale.status !== 200) return;
    const idField = CREATED_ID[path.split('?')[0] as string];
    if (idField !== undefined) {
      const [one, other] = [embedded, atScale].map(
        ({ text }) => (JSON.parse(text) as Record<string, string>)[idField],
      ) as [string, string];
      if (
        one !== other &&
        !this.#embedded.createdIds.includes(one) &&
        !this.#atScale.createdIds.includes(other)
      ) {
        this.#embedded.createdIds.push(one);
        this.#atScale.createdIds.push(other);
      }
    }
    const [one, other] = [cursorIn(embedded.text), cursorIn(atScale.text)];
    if (one !== undefined && other !== undefined) this.#cursors.set(one, other);
  }

  /** Whether both gateways returned this same cursor. */
  isShared(cursor: string): boolean {
    return this.#cursors.get(cursor) === cursor;
  }

  async close(): Promise<void> {
    await this.#embedded.close();
    await this.#atScale.close();
  }
}

function describeDifference(one: string, other: string): string {
  let at = 0;
  while (one[at] === other[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 100), at + 200);
  const shown = (text: string) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
  return [
    `from character ${at}:\n  embedded: …${around(one)}…\n  at scale: …${around(other)}…`,
    `embedded: ${shown(one)}`,
    `at scale: ${shown(other)}`,
  ].join('\n\n');
}

/** Returns a function that tells whether neither store has a job left that removes memberships. */
function jobsOf(embedded: Member, indices: TestIndices): () => Promise<boolean> {
  const path = join(embedded.gateway.dataDir, 'reachline.db');
  const client = indices.client();
  const index = `${indices.config.indexPrefix}-jobs`;
  return async () => {
    const connection = new Connection(path, { cacheMb: 1, readOnly: true });
    const left = connection.number(sql`SELECT count(*) FROM jobs WHERE kind = 'remove-memberships'`);
    connection.close();
    await client.indices.refresh({ index });
    const { hits } = await client.search<{ state: { former: unknown[] } }>({ index, size: 100 });
    return left === 0 && hits.hits.every(({ _source }) => _source?.state.former.length === 0);
  };
}
