import { setTimeout as pause } from 'node:timers/promises';
import type { ElasticsearchConfig } from '../../../services/shared/config.js';
import { freePort } from '../../stack/free-port.js';
import type { Answer, CallOptions } from '../../support/gateway.js';
import { temporaryFolder } from '../../support/gateway.js';
import { type ServerProcess, startServer } from '../../support/server-process.js';

const RETRY_MS = 100;

/** Gateway processes on one cluster, as behind a load balancer: a call goes to the next one when one is down. */
export class Gateways {
  readonly #environment: Record<string, string>;
  readonly #key: string;
  readonly #instances: { port: number; folder: Awaited<ReturnType<typeof temporaryFolder>> }[] = [];
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
      gateways.#instances.push({ port: await freePort(), folder: await temporaryFolder() });
      await gateways.#start(index);
    }
    return gateways;
  }

  get count(): number {
    return this.#instances.length;
  }

  /** Calls one gateway; rejects when it is down. */
  call(index: number, path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
    return (this.#servers[index] as ServerProcess).call(path, body, options);
  }

  /** Retries until a response tells the outcome: neither a 5xx nor `idempotency_in_progress`. */
  async callUntilDone(path: string, body: unknown, options: CallOptions): Promise<Answer> {
    for (;;) {
      const response = await this.call(this.#next++ % this.count, path, body, options).catch(() => null);
      const isPending = response?.status === 409 && response.body.code === 'idempotency_in_progress';
      if (response && response.status < 500 && !isPending) return response;
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
    await Promise.all(this.#instances.map(({ folder }) => folder.remove()));
  }

  async #start(index: number): Promise<void> {
    const instance = this.#instances[index];
    if (!instance) throw new Error(`gateway ${index} does not exist`);
    this.#servers[index] = await startServer({
      dataDir: instance.folder.path,
      key: this.#key,
      environment: { ...this.#environment, PORT: String(instance.port) },
    });
  }
}
