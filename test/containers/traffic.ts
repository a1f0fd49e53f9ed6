/** Well-behaved clients: they search and send records, repeat what failed, and know what was acknowledged. */
import { setTimeout as pause } from 'node:timers/promises';
import { StackError } from '../stack/stack-error.js';
import type { Answer } from '../support/gateway.js';
import { until } from '../support/until.js';
import { type ContainerStack, ORGANIZATION } from './container-stack.js';

const RECORDS_PER_REQUEST = 20;
const RETRY_MS = 250;
/** Between two requests of a client, as the machine is shared. */
const PAUSE_MS = 50;
const DAY = '2026-01-05';
const DRAIN_TIMEOUT_MS = 300_000;

export interface TrafficResult {
  requests: number;
  records: number;
  /** The number of answers of each kind that were not 200: a code, or that the connection broke. */
  failures: Map<string, number>;
  /** Of every answer, in milliseconds. */
  latenciesMs: number[];
}

export class Traffic {
  readonly #stack: ContainerStack;
  readonly #name: string;
  readonly #clients: number;
  readonly #contacts: string[] = [];
  #deliveries = 0;
  #sent = 0;
  #stopping = false;
  #running: Promise<unknown> = Promise.resolve();
  #result: TrafficResult = { requests: 0, records: 0, failures: new Map(), latenciesMs: [] };

  private constructor(stack: ContainerStack, name: string, clients: number) {
    this.#stack = stack;
    this.#name = name;
    this.#clients = clients;
  }

  /** `name` is part of the ids of the records, and their campaign. */
  static start(stack: ContainerStack, name: string, clients = 4): Traffic {
    const traffic = new Traffic(stack, name, clients);
    traffic.#running = Promise.all(Array.from({ length: traffic.#clients }, () => traffic.#client()));
    // Reported by `stop`.
    traffic.#running.catch(() => undefined);
    return traffic;
  }

  /** Runs for the time, or as long as `work` takes if that is longer. */
  static async during(
    stack: ContainerStack,
    name: string,
    work: () => Promise<unknown>,
    lastMs = 4000,
  ): Promise<TrafficResult> {
    const traffic = Traffic.start(stack, name);
    try {
      await pause(3000);
      await work();
      await pause(lastMs);
    } finally {
      await traffic.stop();
    }
    await traffic.expectNothingLost();
    return traffic.#result;
  }

  /** The number of records. */
  get acknowledged(): number {
    return this.#contacts.length + this.#deliveries;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  /** Reads everything that was acknowledged, once the workers have caught up. */
  async expectNothingLost(): Promise<void> {
    let left = [...this.#contacts];
    const found = async () => {
      const still: string[] = [];
      for (let start = 0; start < left.length; start += 500) {
        const contact_ids = left.slice(start, start + 500);
        const { missing, not_returned } = await this.#stack.read('/api/contacts/get-many', { contact_ids });
        still.push(...(missing as string[]), ...(not_returned as string[]));
      }
      left = still;
      return left.length === 0;
    };
    const options = { pollMs: 1000, timeoutMs: DRAIN_TIMEOUT_MS };
    await until(found, 'every acknowledged contact is found', options).catch(() => {
      throw new StackError(
        `${left.length} of ${this.#contacts.length} contacts are lost, such as ${left[0]}`,
      );
    });
    let impressions = 0;
    const counted = async () => {
      const request = {
        start_date: DAY,
        end_date: DAY,
        campaign_ids: [this.#name],
        metrics: ['impressions'],
      };
      const { items } = await this.#stack.read('/api/advertising/network_a/campaigns', request);
      impressions = (items as { impressions: number }[])[0]?.impressions ?? 0;
      return impressions >= this.#deliveries;
    };
    await until(counted, 'every acknowledged delivery is counted', options).catch(() => undefined);
    if (impressions !== this.#deliveries) {
      throw new StackError(
        `${this.#deliveries} deliveries were acknowledged, and ${impressions} are counted`,
      );
    }
  }

  async #client(): Promise<void> {
    while (!this.#stopping) {
      await this.#search();
      await this.#sendContacts();
      await this.#search();
      await this.#sendDeliveries();
    }
  }

  async #search(): Promise<void> {
    const body = { organization_id: ORGANIZATION, query: 'lovelace', limit: 10 };
    await this.#untilAnswered(() => this.#stack.call('/api/contacts/search', body));
  }

  async #sendContacts(): Promise<void> {
    const contacts = this.#next((id) => ({
      contact_id: `${this.#name}-${id}`,
      first_name: 'Ada',
      last_name: 'Lovelace',
      country: 'GB',
    }));
    await this.#untilAnswered(() => this.#stack.ingest('contacts', contacts));
    for (const { contact_id } of contacts) this.#contacts.push(contact_id);
  }

  async #sendDeliveries(): Promise<void> {
    const deliveries = this.#next((id) => ({
      date: DAY,
      campaign_id: this.#name,
      creative_id: 'creative',
      company_id: `company-${id}`,
      impressions: 1,
    }));
    await this.#untilAnswered(() => this.#stack.ingest('network-a-deliveries', deliveries));
    this.#deliveries += deliveries.length;
  }

  #next<Item>(item: (id: number) => Item): Item[] {
    this.#result.records += RECORDS_PER_REQUEST;
    return Array.from({ length: RECORDS_PER_REQUEST }, () => item(this.#sent++));
  }

  /** Throws for an answer that repeating does not change. */
  async #untilAnswered(send: () => Promise<Answer>): Promise<void> {
    for (;;) {
      const begun = performance.now();
      const answer = await send().catch(() => undefined);
      this.#result.latenciesMs.push(performance.now() - begun);
      this.#result.requests++;
      if (answer?.status === 200 && !answer.body.rejected) break;
      const byNginx = String(answer?.body.detail).startsWith('No gateway answers') ? ' (nginx)' : '';
      const kind = answer
        ? `${answer.status} ${answer.body.code ?? answer.text}${byNginx}`
        : 'connection broken';
      if (answer && answer.status < 429)
        throw new StackError(`a client was answered ${kind}: ${answer.text}`);
      this.#result.failures.set(kind, (this.#result.failures.get(kind) ?? 0) + 1);
      await pause(RETRY_MS);
    }
    await pause(PAUSE_MS);
  }
}

/** For the table. */
export function summarize({ requests, records, failures, latenciesMs }: TrafficResult): string {
  const failed = [...failures].map(([kind, count]) => `${count} × ${kind}`).join(', ');
  const sorted = latenciesMs.toSorted((one, other) => one - other);
  const seconds = (ms = 0) => `${(ms / 1000).toFixed(2)} s`;
  const latencies = `median ${seconds(sorted[Math.floor(sorted.length / 2)])}, slowest ${seconds(sorted.at(-1))}`;
  return `${requests} requests, ${failed || 'none failed'}; ${latencies}; ${records} records`;
}

export const failuresOf = ({ failures }: TrafficResult) =>
  [...failures.values()].reduce((sum, count) => sum + count, 0);
