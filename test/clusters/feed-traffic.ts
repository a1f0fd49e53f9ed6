/** Clients that change contacts in every way while something is broken, and clients that follow them by `contacts/changes`. */
import { setTimeout as pause } from 'node:timers/promises';
import { drawWrite } from '../durability/drawn-writes.js';
import type { Answer } from '../support/gateway.js';
import { Random, SEED } from '../support/random.js';
import { until } from '../support/until.js';
import { AUDIENCE, type ClusterStack, FEED_ORGANIZATION } from './cluster-stack.js';

const PATH = '/api/contacts/changes';
const WRITERS = 4;
const WRITE_MS = 100;
const CONTACTS = 300;
const POLL_MS = 200;
const RETRY_MS = 500;
/** Pages after which a client that still has more is compared nevertheless. */
const MAX_PAGES = 200;
const FILTERS = [{}, { country: 'US' }, { audience_id: AUDIENCE }, { query: 'maria' }];
const CAUGHT_UP = { pollMs: 1000, timeoutMs: 120_000 };

type Contacts = Map<string, unknown>;

export class FeedTraffic {
  readonly #stack: ClusterStack;
  readonly #random = new Random(SEED);
  readonly #followers: readonly Follower[];
  readonly #running: Promise<unknown>;
  #stopping = false;
  #writes = 0;
  #failedWrites = 0;

  constructor(stack: ClusterStack) {
    this.#stack = stack;
    const call = (path: string, body: object) => this.#call(path, body);
    this.#followers = FILTERS.map((filter) => new Follower(filter, call, this.#random));
    const writing = Array.from({ length: WRITERS }, () => this.#write());
    const following = this.#followers.map(async (follower) => {
      while (!this.#stopping) {
        await follower.read();
        await pause(POLL_MS);
      }
    });
    this.#running = Promise.all([...writing, ...following]);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  /** Resolves with the differences between what each client has and what its search finds, once the workers have caught up. */
  async check(): Promise<string[]> {
    const problems: string[] = [];
    for (const follower of this.#followers) {
      let differences: string[] = [];
      const isSame = async () => {
        for (let pages = 0; pages < MAX_PAGES && (await follower.read()); pages++);
        differences = follower.differences(await this.#export(follower.filter));
        return differences.length === 0;
      };
      await until(isSame, 'the client has what the search finds', CAUGHT_UP).catch(() => undefined);
      problems.push(...follower.problems, ...differences);
    }
    return problems;
  }

  describe(): string {
    const sum = (count: (follower: Follower) => number) =>
      this.#followers.reduce((total, follower) => total + count(follower), 0);
    const present = this.#followers.map(({ contacts }) => contacts.size).join('/');
    return `${this.#writes} writes, ${this.#failedWrites} failed; ${sum(({ pages }) => pages)} pages, ${sum(({ changes }) => changes)} changes, ${sum(({ failed }) => failed)} failed, ${sum(({ expired }) => expired)} expired; ${present} present`;
  }

  async #write(): Promise<void> {
    const caller = { call: (path: string, body: unknown) => this.#call(path, body), ingest: this.#ingest };
    while (!this.#stopping) {
      const answer = await drawWrite(caller, FEED_ORGANIZATION, this.#random, CONTACTS).catch(
        () => undefined,
      );
      this.#writes++;
      if (!answer || answer.status >= 500) this.#failedWrites++;
      await pause(WRITE_MS);
    }
  }

  get #gateway() {
    return this.#random.pick(this.#stack.gateways);
  }

  #call(path: string, body: unknown): Promise<Answer> {
    return this.#gateway.call(path, body, { key: this.#stack.feedKey });
  }

  readonly #ingest = (stream: string, records: readonly object[]): Promise<Answer> =>
    this.#gateway.ingest(stream, records, { key: this.#stack.feedKey });

  async #export(filter: object): Promise<Contacts> {
    const { status, text } = await this.#gateway.call(
      '/api/contacts/search',
      { organization_id: FEED_ORGANIZATION, match: 'all', ...filter },
      { key: this.#stack.feedKey, headers: { Accept: 'application/x-ndjson' } },
    );
    if (status !== 200) throw new Error(`the export responded with ${status}: ${text}`);
    const contacts = text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { contact_id: string });
    return new Map(contacts.map((contact) => [contact.contact_id, contact]));
  }
}

/** A client of the feed with a filter. */
class Follower {
  readonly filter: object;
  readonly contacts: Contacts = new Map();
  readonly problems: string[] = [];
  pages = 0;
  changes = 0;
  failed = 0;
  /** Number of runs that ended with 410. */
  expired = 0;
  readonly #call: (path: string, body: object) => Promise<Answer>;
  readonly #random: Random;
  #cursor: string | undefined;

  constructor(filter: object, call: (path: string, body: object) => Promise<Answer>, random: Random) {
    this.filter = filter;
    this.#call = call;
    this.#random = random;
  }

  /** Reads a page. Returns whether there may be more. */
  async read(): Promise<boolean> {
    const limit = this.#random.between(1, 50);
    const request = {
      organization_id: FEED_ORGANIZATION,
      filter: this.filter,
      limit,
      cursor: this.#cursor,
    };
    const answer = await this.#call(PATH, request).catch(() => null);
    if (answer?.status === 410) {
      this.expired++;
      this.#cursor = undefined;
      this.contacts.clear();
      return true;
    }
    if (answer?.status !== 200) {
      this.failed++;
      // A gateway is never killed, and other clients judge how fast a broken store is 503.
      if (answer?.status !== 503 && answer?.status !== 504)
        this.problems.push(`the feed responded with ${answer?.status}: ${answer?.text}`);
      await pause(RETRY_MS);
      return true;
    }
    const page = answer.body as {
      changes: { contact_id: string; state: string; contact?: unknown }[];
      next_cursor: string;
      more: boolean;
    };
    this.pages++;
    this.changes += page.changes.length;
    for (const { contact_id, state, contact } of page.changes) {
      if (state === 'absent') this.contacts.delete(contact_id);
      else this.contacts.set(contact_id, contact);
    }
    this.#cursor = page.next_cursor;
    return page.more;
  }

  differences(expected: Contacts): string[] {
    const of = JSON.stringify(this.filter);
    const missing = [...expected].flatMap(([id, contact]) => {
      if (!this.contacts.has(id)) return [`the client of ${of} lacks ${id}`];
      const isSame = JSON.stringify(this.contacts.get(id)) === JSON.stringify(contact);
      return isSame ? [] : [`the client of ${of} has ${id} in another state`];
    });
    const extra = [...this.contacts.keys()].filter((id) => !expected.has(id));
    return [...missing, ...extra.map((id) => `the client of ${of} has ${id}, which is gone`)];
  }
}
