/** One life lived twice: on embedded stores and on servers, at the same moments. */
import { Agent } from 'node:http';
import type { Clock } from '../../../services/shared/time.js';
import type { FuzzRequest } from '../../gateway/fuzz-requests.js';
import { type Received, send } from '../../gateway/send.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { startAtScaleGateway } from '../start-gateway.js';

/** What a client can tell the two by. */
const HEADERS = [
  'content-type',
  'idempotency-replayed',
  'x-ignored-fields',
  'retry-after',
  'www-authenticate',
  'allow',
];
const STEP_MS = 10;
const SHOWN = 20_000;
const idLike = /con_[0-9a-z]{26}/g;
const requestId = /req_[0-9a-z]{26}/g;

/** A gateway, and what it gave out that is another's at its twin: ids of new contacts, and cursors. */
class Twin {
  readonly gateway: TestGateway;
  readonly agent = new Agent({ keepAlive: true });
  readonly made: string[] = [];

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
  }

  send(request: FuzzRequest): Promise<Received> {
    return send(this.gateway.url, this.agent, request);
  }

  /** The answer with the ids made on the way numbered, and cursors opened. */
  transcript({ status, headers, text }: Received): string {
    const told = HEADERS.map((name) => headers[name] ?? '').join('|');
    const read = text
      .replace(nextCursor, (_, cursor: string) => `"next_cursor":${open(cursor)}`)
      .replace(requestId, 'req');
    const numbered = read.replace(idLike, (id) => {
      const number = this.made.indexOf(id);
      return number < 0 ? id : `made_${number}`;
    });
    return `${status} ${told}\n${numbered}`;
  }

  async close(): Promise<void> {
    this.agent.destroy();
    await this.gateway.close();
  }
}

const nextCursor = /"next_cursor":"([\w-]+)"/g;
const open = (cursor: string) => Buffer.from(cursor, 'base64url').toString();
const cursorIn = (text: string) => /"next_cursor":"([\w-]+)"/.exec(text)?.[1];

export interface Both {
  embedded: Received;
  /** How the two differ; null when they do not. */
  difference: string | null;
}

export class Twins {
  readonly #embedded: Twin;
  readonly #atScale: Twin;
  readonly #time: { now: number };
  /** Cursors of the embedded twin, and those that the other gave out in their place. */
  readonly #cursors = new Map<string, string>();

  private constructor(embedded: Twin, atScale: Twin, time: { now: number }) {
    this.#embedded = embedded;
    this.#atScale = atScale;
    this.#time = time;
  }

  /** Both have the same key. */
  static async start(now: number): Promise<Twins> {
    const time = { now };
    const clock: Clock = { now: () => time.now };
    const embedded = new Twin(await startTestGateway({}, clock));
    const atScale = new Twin(await startAtScaleGateway({}, clock));
    for (const key of await embedded.gateway.stores.search.listKeys()) {
      await atScale.gateway.stores.search.insertKey(key);
    }
    return new Twins(embedded, atScale, time);
  }

  get key(): string {
    return this.#embedded.gateway.key;
  }

  /** Ids of the contacts made on the way, as the embedded twin knows them. */
  get made(): readonly string[] {
    return this.#embedded.made;
  }

  async setCredits(balance: number): Promise<void> {
    for (const { gateway } of [this.#embedded, this.#atScale]) {
      await gateway.stores.search.setCredits('org_a', balance);
    }
  }

  /** Asks both at the same moment, each with its own ids and cursors; the next request is a moment later. */
  async ask(request: FuzzRequest): Promise<Both> {
    this.#time.now += STEP_MS;
    const [embedded, atScale] = await Promise.all([
      this.#embedded.send(request),
      this.#atScale.send(this.#translated(request)),
    ]);
    this.#learn(request, embedded, atScale);
    const one = this.#embedded.transcript(embedded);
    const other = this.#atScale.transcript(atScale);
    return { embedded, difference: one === other ? null : describeDifference(one, other) };
  }

  /** The request as the twin at scale is to get it. */
  #translated(request: FuzzRequest): FuzzRequest {
    const text = request.body.toString('latin1');
    const body = text
      .replace(idLike, (id) => this.#atScale.made[this.#embedded.made.indexOf(id)] ?? id)
      .replace(/"cursor":"([\w-]+)"/g, (told, cursor: string) => {
        const own = this.#cursors.get(cursor);
        return own === undefined ? told : `"cursor":"${own}"`;
      });
    return body === text ? request : { ...request, body: Buffer.from(body, 'latin1') };
  }

  #learn({ path }: FuzzRequest, embedded: Received, atScale: Received): void {
    if (embedded.status !== 200 || atScale.status !== 200) return;
    if (path.startsWith('/api/contacts/create')) {
      const [one, other] = [embedded, atScale].map(
        ({ text }) => (JSON.parse(text) as { contact_id: string }).contact_id,
      ) as [string, string];
      if (one !== other && !this.#embedded.made.includes(one) && !this.#atScale.made.includes(other)) {
        this.#embedded.made.push(one);
        this.#atScale.made.push(other);
      }
    }
    const [one, other] = [cursorIn(embedded.text), cursorIn(atScale.text)];
    if (one !== undefined && other !== undefined) this.#cursors.set(one, other);
  }

  /** A cursor that is the same to both, whatever is done to it. */
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
  const shown = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
  return [
    `from character ${at}:\n  embedded: …${around(one)}…\n  at scale: …${around(other)}…`,
    `embedded: ${shown(one)}`,
    `at scale: ${shown(other)}`,
  ].join('\n\n');
}
