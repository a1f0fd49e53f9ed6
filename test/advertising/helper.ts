import type { Static, TSchema } from 'typebox';
import type { AnalyticsReader, AnalyticsStore } from '../../services/advertising/analytics-store.js';
import type { Endpoint, ParsedBody } from '../../services/http/endpoint.js';
import { serialize } from '../../services/http/serialize.js';
import { openAnalyticsStore } from '../../services/stores/clickhouse/store.js';
import type { RecordStore } from '../../services/stores/common/record-store.js';
import { tempFolder } from '../support/temp-folder.js';

/** A time on the day that tests use as today. */
export const TODAY = '2026-11-21';

/** Calls an operation's handler directly, without the gateway's checks, with `today` as the date. Returns the text of the response. */
export async function callText<Body extends TSchema, Query extends TSchema, Answer extends TSchema>(
  operation: Endpoint<Body, Query, Answer>,
  analytics: AnalyticsReader,
  organizationId: string,
  body: Static<Body>,
  today = TODAY,
  signal = new AbortController().signal,
): Promise<string> {
  const answer = await operation.handle({
    operation: operation.path,
    params: {},
    body: body as ParsedBody<Body>,
    query: {} as ParsedBody<Query>,
    keyId: 'key',
    organizationId,
    services: {
      // Advertising never uses the records store.
      records: undefined as unknown as RecordStore,
      analytics,
      clock: { now: () => Date.parse(`${today}T12:00:00Z`) },
      provisionalDays: 7,
    },
    signal,
    beginsToWrite: () => undefined,
    responseHeaders: {},
  });
  return String(await serialize(answer));
}

/** Calls an operation like `callText`, and parses the response. */
export const call = async <Body extends TSchema, Query extends TSchema, Answer extends TSchema>(
  ...args: Parameters<typeof callText<Body, Query, Answer>>
) => JSON.parse(await callText(...args)) as Static<Answer>;

export interface TemporaryStore {
  store: AnalyticsStore;
  dispose(): Promise<void>;
}

let opener = openInTemporaryFolder;

/** Makes all advertising tests run on another store. */
export function useStores(open: (timeoutMs?: number) => Promise<TemporaryStore>): void {
  opener = open;
}

/** An empty store for one test. `dispose` removes everything. */
export function openTemporaryStore(timeoutMs?: number): Promise<TemporaryStore> {
  return opener(timeoutMs);
}

async function openInTemporaryFolder(timeoutMs?: number): Promise<TemporaryStore> {
  const { store } = await openAnalyticsStore({ path: tempFolder(), timeoutMs });
  return {
    store,
    dispose: () => store.close(),
  };
}
