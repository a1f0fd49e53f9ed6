import { issueKey } from '../../services/accounts/keys.js';
import { loadMcp } from '../../services/cli/mcp-loader.js';
import { withSqlEndpoint } from '../../services/cli/sql-endpoint.js';
import { startGateway } from '../../services/gateway/server.js';
import { type Config, loadConfig } from '../../services/shared/config.js';
import { createLogger } from '../../services/shared/logger.js';
import { type Clock, systemClock } from '../../services/shared/time.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { closedWithFile, useOpened } from './opened.js';
import { sampleFolder } from './sample.js';
import { tempFolder } from './temp-folder.js';

export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
  text: string;
}

export interface CallOptions {
  key?: string | null;
  headers?: Record<string, string>;
  method?: string;
  /** Sent as it is instead of a JSON body. */
  raw?: string | Uint8Array | ReadableStream;
}

export interface Caller {
  /** Rejects when the connection breaks before the answer is complete. */
  call(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  ingest(stream: string, records: readonly object[], options?: CallOptions): Promise<Answer>;
}

/** Calls the gateway at a URL with a key; a call may name another key. */
export function callerOf(url: string, ownKey?: string): Caller {
  async function call(path: string, body: unknown = {}, options: CallOptions = {}): Promise<Answer> {
    const { method = 'POST', key = ownKey } = options;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(key ? { 'X-Api-Key': key } : {}),
        ...options.headers,
      },
      body: method === 'GET' || method === 'HEAD' ? undefined : (options.raw ?? JSON.stringify(body)),
      duplex: 'half',
    });
    const { status, headers } = response;
    const text = await response.text();
    const isJson = /\bjson/.test(headers.get('Content-Type') ?? '') && text !== '';
    return { status, headers, body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {}, text };
  }
  return {
    call,
    ingest: (stream, records, options = {}) =>
      call(`/api/ingest/${stream}`, undefined, {
        ...options,
        raw: records.map((record) => JSON.stringify(record)).join('\n'),
        headers: { 'Content-Type': 'application/x-ndjson', ...options.headers },
      }),
  };
}

/** A gateway on a free port, spoken to over real HTTP. */
export interface TestGateway extends Caller {
  url: string;
  dataDir: string;
  stores: Stores;
  /** A key of `org_a` with every scope, sent unless a call names another. */
  key: string;
  keyFor(organizationId: string, scopes?: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export type StartGateway = typeof startTestGateway;

/** Tests of a gateway for each kind of gateway: `start` decides where it keeps its records. */
export const gatewaySuite =
  (title: string, tests: (start: StartGateway) => void) =>
  (start: StartGateway): void =>
    void describe(title, () => tests(start));

/** A gateway for the tests of a suite; `prepare` fills it before the first test. */
export const useGateway = (
  prepare: (gateway: TestGateway) => Promise<unknown> = async () => undefined,
  start: () => Promise<TestGateway> = startTestGateway,
): TestGateway =>
  useOpened(async () => {
    const gateway = await start();
    await prepare(gateway);
    return gateway;
  });

/** A gateway over the sample data of the days before `now`. */
export const startSampleGateway = async (
  settings: Partial<Config> = {},
  clock: Clock = systemClock,
): Promise<TestGateway> => startTestGateway({ ...settings, dataDir: await sampleFolder(clock.now()) }, clock);

/** A gateway over embedded stores in a folder of its own, unless the settings name other stores. Most tests never start the engine. */
export const startTestGateway = (
  settings: Partial<Config> = {},
  clock: Clock = systemClock,
  { analyticsOnDemand = true } = {},
): Promise<TestGateway> => closedWithFile(start(settings, clock, analyticsOnDemand));

async function start(
  settings: Partial<Config>,
  clock: Clock,
  analyticsOnDemand: boolean,
): Promise<TestGateway> {
  const config: Config = {
    ...loadConfig({
      PORT: '0',
      REACHLINE_DATA_DIR: tempFolder(),
      REACHLINE_RATE_LIMIT: '0',
      REACHLINE_SEARCH_PROCESSES: '1',
    }),
    ...settings,
  };
  const opened = await openStores(config, { clock, analyticsOnDemand });
  const { stores, sql } = await withSqlEndpoint(config, opened);
  const gateway = await startGateway(config, stores, createLogger('silent'), { clock, sql, mcp: loadMcp });
  const keyFor = (organizationId: string, scopes: readonly string[] = ['*']) =>
    issueKey(stores.records, { organizationId, scopes }, clock);
  const key = await keyFor('org_a');

  return {
    url: gateway.url,
    dataDir: config.dataDir,
    stores,
    key,
    keyFor,
    ...callerOf(gateway.url, key),
    async close() {
      await gateway.stop();
      await stores.close();
    },
  };
}
