/** Well-behaved clients: they search and send records, retry failed requests, and remember what was acknowledged. */
import { setTimeout as pause } from 'node:timers/promises';
import { StackError } from '../stack/stack-error.js';
import type { Answer } from '../support/gateway.js';
import { until } from '../support/until.js';
import { type ContainerStack, ORGANIZATION } from './container-stack.js';

const RECORDS_PER_REQUEST = 20;
const RETRY_MS = 250;
/** Pause between two requests of a client, because the machine is shared. */
const PAUSE_MS = 50;
const DAY = '2026-01-05';
const DRAIN = { pollMs: 1000, timeoutMs: 300_000 };

export class Traffic {
  readonly #stack: ContainerStack;
  readonly #name: string;
  readonly #contacts: string[] = [];
  #deliveries = 0;
  #sent = 0;
  #stopping = false;
  readonly #running: Promise<unknown>;
  #requests = 0;
  #slowestMs = 0;
  /** The number of responses of each kind that were not 200: an error code, or a broken connection. */
  readonly #failures = new Map<string, number>();

  /** `name` is part of the ids of the records, and their campaign. */
  constructor(stack: ContainerStack, name: string, clients = 4) {
    this.#stack = stack;
    this.#name = name;
    this.#running = Promise.all(Array.from({ length: clients }, () => this.#client()));
    // Reported by `stop`.
    this.#running.catch(() => undefined);
  }

  /**
   * Runs for some seconds, or as long as `work` takes if that is longer. Resolves with what clients saw, for the table. Throws if too many
   * requests failed, or if anything was lost.
   */
  static async during(
    stack: ContainerStack,
    name: string,
    work: () => Promise<unknown> = async () => undefined,
    mostFailures = 0,
  ): Promise<string> {
    const traffic = new Traffic(stack, name);
    try {
      await pause(3000);
      await work();
      await pause(4000);
    } finally {
      await traffic.stop();
    }
    await traffic.expectNothingLost();
    const failed = [...traffic.#failures].map(([kind, count]) => `${count} × ${kind}`).join(', ');
    const slowest = (traffic.#slowestMs / 1000).toFixed(2);
    const summary = `${traffic.#requests} requests, ${failed || 'none failed'}; slowest ${slowest} s`;
    const failures = [...traffic.#failures.values()].reduce((sum, count) => sum + count, 0);
    if (failures > mostFailures) throw new StackError(summary);
    return summary;
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
    await until(found, 'every acknowledged contact is found', DRAIN);
    const range = { start_date: DAY, end_date: DAY, metrics: ['impressions'] };
    const counted = async () => {
      const request = { ...range, campaign_ids: [this.#name] };
      const { items } = await this.#stack.read('/api/advertising/network_a/campaigns', request);
      const impressions = (items as { impressions: number }[])[0]?.impressions ?? 0;
      if (impressions > this.#deliveries) throw new StackError(`${impressions} deliveries are counted`);
      return impressions === this.#deliveries;
    };
    await until(counted, `${this.#deliveries} acknowledged deliveries are counted`, DRAIN);
  }

  async #client(): Promise<void> {
    const search = { organization_id: ORGANIZATION, query: 'lovelace', limit: 10 };
    while (!this.#stopping) {
      await this.#untilAnswered(() => this.#stack.call('/api/contacts/search', search));
      const contacts = this.#next((id) => ({ contact_id: `${this.#name}-${id}`, last_name: 'Lovelace' }));
      await this.#untilAnswered(() => this.#stack.ingest('contacts', contacts));
      for (const { contact_id } of contacts) this.#contacts.push(contact_id);
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
  }

  #next<Item>(item: (id: number) => Item): Item[] {
    return Array.from({ length: RECORDS_PER_REQUEST }, () => item(this.#sent++));
  }

  /** Throws for a response that a retry does not change. */
  async #untilAnswered(send: () => Promise<Answer>): Promise<void> {
    for (;;) {
      const begun = performance.now();
      const answer = await send().catch(() => undefined);
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - begun);
      this.#requests++;
      if (answer?.status === 200 && !answer.body.rejected) break;
      const kind = answer ? `${answer.status} ${answer.body.code ?? answer.text}` : 'connection broken';
      if (answer && answer.status < 429)
        throw new StackError(`a client was answered ${kind}: ${answer.text}`);
      this.#failures.set(kind, (this.#failures.get(kind) ?? 0) + 1);
      await pause(RETRY_MS);
    }
    await pause(PAUSE_MS);
  }
}
