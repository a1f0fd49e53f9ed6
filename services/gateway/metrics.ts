import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { noUsage, type Usage } from '../http/admission.js';
import { cached, memoize } from '../shared/cache.js';
import type { StoreState } from '../shared/health.js';
import type { StoreName } from '../shared/store-errors.js';
import type { RecoveryStatus } from '../stores/common/record-store.js';

/** Metrics of a gateway process. Their names are public. */
export interface Metrics {
  registry: Registry;
  /** The body of `/metrics`. */
  render(): Promise<string>;
  observeRequest(operation: string, status: number, seconds: number): void;
  problems: Counter<'code'>;
  /**
   * Operations that assistants run through `/mcp`, by their own status, because the response of `/mcp` is 200 even if the operation fails.
   */
  mcpOperations: Counter<'operation' | 'status'>;
  stores: Histogram<'store' | 'operation' | 'outcome'>;
  ingested: Counter<'stream' | 'outcome'>;
  /** Sets where the gauges read their values. */
  measure(sources: Partial<GaugeSources>): void;
}

/** Values of the gauges, read at each scrape. */
export interface GaugeSources {
  /** Bytes of records queued for Kafka. */
  queuedBytes(): number;
  usage(): Usage;
  connections(): number;
  /** Recovery of the records store. */
  recovery(): Readonly<RecoveryStatus> | undefined;
  /** State of each store by its name; undefined for a store that is not in use. */
  storeStates(): Promise<Partial<Record<StoreName, StoreState>>>;
}

/** Milliseconds for which a response of `/metrics` is cached: the route needs no API key, so it must be cheap. */
export const RENDER_CACHE_MS = 1000;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const sources: GaugeSources = {
    queuedBytes: () => 0,
    usage: noUsage,
    connections: () => 0,
    recovery: () => undefined,
    storeStates: async () => ({}),
  };
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'reachline_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its response.',
    labelNames: ['operation', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  for (const [name, help, read] of [
    [
      'reachline_ingest_queue_bytes',
      'Bytes of records that HTTP ingest has received and Kafka has not acknowledged.',
      () => sources.queuedBytes(),
    ],
    ['reachline_http_connections', 'Open client connections.', () => sources.connections()],
    [
      'reachline_http_requests_in_flight',
      'Requests with a valid API key that are in progress.',
      () => sources.usage().requests,
    ],
    [
      'reachline_exports_running',
      'Exports in progress (limit 8, and 2 per organization; further exports get 503).',
      () => sources.usage().exports,
    ],
    [
      'reachline_http_slots_in_use',
      'Admission slots in use (limit 1000; further requests get 503). An operation takes as many slots as it weighs.',
      () => sources.usage().slots,
    ],
    [
      'reachline_http_bodies_in_progress',
      'Requests whose body is still arriving, and ingest requests (limit 1000; further requests get 503).',
      () => sources.usage().bodies,
    ],
    [
      'reachline_http_body_bytes',
      'Bytes of request bodies in memory, after decompression (limit 256 MiB; further requests get 503).',
      () => sources.usage().bodyBytes,
    ],
    [
      'reachline_http_answer_bytes',
      'Bytes of responses that clients have not read yet (limit 256 MiB; further requests get 503).',
      () => sources.usage().responseBytes,
    ],
  ] as const) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }
  new Gauge({
    name: 'reachline_store_writable',
    help: '1 if the store responds and accepts writes; otherwise 0, such as when its disk is full or an operator blocked writes.',
    labelNames: ['store'],
    registers: [registry],
    async collect() {
      for (const [store, state] of Object.entries(await sources.storeStates()))
        if (state !== undefined) this.set({ store }, state === 'ok' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'reachline_credit_reservations_overdue',
    help: 'Reservations of credits older than a minute, because the store could not tell whether their contact was created.',
    registers: [registry],
    collect() {
      this.set(sources.recovery()?.overdueReservations ?? 0);
    },
  });
  new Counter({
    name: 'reachline_recovery_failures_total',
    help: 'Failed steps of the recovery job; its next run retries them.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(sources.recovery()?.failures ?? 0);
    },
  });
  // Series are memoized, because looking up a series by its labels takes longer than observing a value.
  const series = memoize((statusAndOperation) => {
    const [status = '', operation = ''] = statusAndOperation.split(' ', 2);
    return requests.labels(operation, status);
  });
  return {
    registry,
    render: cached(RENDER_CACHE_MS, () => registry.metrics()),
    measure: (given) => void Object.assign(sources, given),
    observeRequest: (operation, status, seconds) => series(`${status} ${operation}`).observe(seconds),
    problems: new Counter({
      name: 'reachline_http_problems_total',
      help: 'Error responses, over HTTP or from a tool of /mcp, by error code.',
      labelNames: ['code'],
      registers: [registry],
    }),
    mcpOperations: new Counter({
      name: 'reachline_mcp_operations_total',
      help: 'Operations that assistants ran through /mcp, by operation and by the HTTP status that it would have had.',
      labelNames: ['operation', 'status'],
      registers: [registry],
    }),
    stores: new Histogram({
      name: 'reachline_store_request_duration_seconds',
      help: 'Duration of store calls, by store, method and outcome.',
      labelNames: ['store', 'operation', 'outcome'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [registry],
    }),
    ingested: new Counter({
      name: 'reachline_ingest_records_total',
      help: 'Records received by HTTP ingest, by stream and outcome.',
      labelNames: ['stream', 'outcome'],
      registers: [registry],
    }),
  };
}
