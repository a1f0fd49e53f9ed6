import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { ElasticsearchConfig } from '../../../services/shared/config.js';
import { freePort } from '../../stack/free-port.js';
import type { Answer, CallOptions } from '../../support/gateway.js';
import { type ServerProcess, startServer } from '../../support/server-process.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';

const RETRY_MS = 100;
const MAX_RESPONSE_MS = 2000;
const RANGE = { start_date: '2026-01-01', end_date: '2026-01-31' };

/** Gateway processes on one cluster, as behind a load balancer: if one is down, a call goes to the next. */
export class Gateways {
  readonly #environment: Record<string, string>;
  readonly #key: string;
  readonly #instances: { port: number; folder: string }[] = [];
  readonly #servers: ServerProcess[] = [];
  #next = 0;

  private constructor(config: ElasticsearchConfig, key: string) {
    this.#environment = {
      ELASTICSEARCH_URL: config.nodes.join(','),
      ELASTICSEARCH_INDEX_PREFIX: config.indexPrefix,
    };
    this.#key = key;
  }

  static async start(count: number, config: ElasticsearchConfig, key: string): Promise<Gateways> {
    const gateways = new Gateways(config, key);
    for (let index = 0; index < count; index++) {
      gateways.#instances.push({ port: await freePort(), folder: tempFolder() });
      await gateways.#start(index);
    }
    return gateways;
  }

  get count(): number {
    return this.#instances.length;
  }

  /** Calls one gateway. Rejects if it is down. */
  call(index: number, path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
    return (this.#servers[index] as ServerProcess).call(path, body, options);
  }

  /** Retries until the response states the outcome: neither a 5xx nor `idempotency_in_progress`. */
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

  /**
   * Expects every gateway to report within two seconds that the records store is unavailable, without store details, and to serve from the
   * other store.
   */
  async expectOutage(organization_id: string): Promise<void> {
    for (let index = 0; index < this.count; index++) {
      const begun = performance.now();
      const response = await this.call(index, '/api/contacts/search', { organization_id });
      expect(performance.now() - begun, 'an outage is reported in time').to.be.lessThan(MAX_RESPONSE_MS);
      expect(response.status, response.text).to.equal(503);
      expect(response.body.code).to.equal('store_unavailable');
      expect(response.headers.get('Retry-After')).to.match(/^\d+$/);
      expect(response.text).not.to.match(/elastic|clickhouse|ECONN|127\.0\.0\.1/i);
      const other = await this.call(index, '/api/advertising/network_a/campaigns', RANGE);
      expect(other.status, other.text).to.equal(200);
      const readiness = await this.call(index, '/readyz', undefined, { method: 'GET' });
      expect(readiness.status).to.equal(503);
      expect(readiness.body.stores).to.deep.equal({ records: 'unavailable', analytics: 'ok' });
    }
  }

  async ready(): Promise<void> {
    for (let index = 0; index < this.count; index++) {
      const isReady = async () =>
        (await this.call(index, '/readyz', undefined, { method: 'GET' })).status === 200;
      await until(isReady, 'the gateway is ready', { pollMs: 100, timeoutMs: 120_000 });
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
  }

  async #start(index: number): Promise<void> {
    const instance = this.#instances[index];
    if (!instance) throw new Error(`gateway ${index} does not exist`);
    this.#servers[index] = await startServer({
      dataDir: instance.folder,
      key: this.#key,
      environment: { ...this.#environment, PORT: String(instance.port) },
    });
  }
}
