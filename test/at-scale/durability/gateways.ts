import { setTimeout as pause } from 'node:timers/promises';
import type { ElasticsearchConfig } from '../../../services/shared/config.js';
import { freePort } from '../../stack/free-port.js';
import type { Answer, CallOptions } from '../../support/gateway.js';
import { temporaryFolder } from '../../support/gateway.js';
import { type ServerProcess, startServer } from '../../support/server-process.js';

const RETRY_MS = 100;

/** Gateway processes over one cluster, as behind a load balancer: a call goes to one, and to the next when that one is gone. */
export class Gateways {
  readonly #environment: Record<string, string>;
  readonly #key: string;
  readonly #places: { port: number; folder: Awaited<ReturnType<typeof temporaryFolder>> }[] = [];
  readonly #servers: ServerProcess[] = [];
  #next = 0;

  private constructor(config: ElasticsearchConfig, key: string, environment: Record<string, string>) {
    this.#environment = {
      ELASTICSEARCH_URL: config.nodes.join(','),
      ELASTICSEARCH_INDEX_PREFIX: config.indexPrefix,
      ...environment,
    };
    this.#key = key;
  }

  static async start(
    count: number,
    config: ElasticsearchConfig,
    key: string,
    environment: Record<string, string> = {},
  ): Promise<Gateways> {
    const gateways = new Gateways(config, key, environment);
    for (let index = 0; index < count; index++) {
      gateways.#places.push({ port: await freePort(), folder: await temporaryFolder() });
      await gateways.#start(index);
    }
    return gateways;
  }

  get count(): number {
    return this.#places.length;
  }

  /** Of one gateway; rejects when it is gone. */
  call(index: number, path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
    return (this.#servers[index] as ServerProcess).call(path, body, options);
  }

  /** Sends until an answer comes that says what was done: not for an outage, nor for a request still under way. */
  async insist(path: string, body: unknown, options: CallOptions): Promise<Answer> {
    for (;;) {
      const answer = await this.call(this.#next++ % this.count, path, body, options).catch(() => null);
      const isPending = answer?.status === 409 && answer.body.code === 'idempotency_in_progress';
      if (answer && answer.status < 500 && !isPending) return answer;
      await pause(RETRY_MS);
    }
  }

  async killAndRestart(index: number): Promise<void> {
    await this.#servers[index]?.kill();
    await this.#start(index);
  }

  output(): string {
    return this.#servers.map((server) => server.output()).join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
    await Promise.all(this.#places.map(({ folder }) => folder.remove()));
  }

  async #start(index: number): Promise<void> {
    const place = this.#places[index];
    if (!place) throw new Error(`there is no gateway ${index}`);
    this.#servers[index] = await startServer({
      dataDir: place.folder.path,
      key: this.#key,
      environment: { ...this.#environment, PORT: String(place.port) },
    });
  }
}
