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
  /** Operations that assistants run through `/mcp`, whose own answers are 200 also where the operation fails. */
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

/** Cache of `/metrics`, in milliseconds: it needs no API key, so it must be cheap. */
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
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['operation', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  for (const [name, help, read] of [
    [
      'reachline_ingest_queue_bytes',
      'Bytes of records taken in over HTTP that wait for Kafka or are on their way to it.',
      () => sources.queuedBytes(),
    ],
    ['reachline_http_connections', 'Open connections.', () => sources.connections()],
    [
      'reachline_http_requests_in_flight',
      'Requests with a good key that are not answered yet.',
      () => sources.usage().requests,
    ],
    [
      'reachline_exports_running',
      'Answers of every match as CSV or NDJSON that are being sent; at 8, or 2 of an organization, others get 503.',
      () => sources.usage().exports,
    ],
    [
      'reachline_http_slots_in_use',
      'Slots of admission taken by operations, each as many as it weighs; at 1000, others get 503.',
      () => sources.usage().slots,
    ],
    [
      'reachline_http_bodies_in_progress',
      'Requests whose body is still arriving, and ingest requests; at 1000, others get 503.',
      () => sources.usage().bodies,
    ],
    [
      'reachline_http_body_bytes',
      'Bytes of those bodies, after decompression; at 256 MiB, others get 503.',
      () => sources.usage().bodyBytes,
    ],
    [
      'reachline_http_answer_bytes',
      'Bytes of answers that their clients have not read yet; at 256 MiB, others get 503.',
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
    help: 'Whether a store answers and takes writes (1), or not (0), as one whose disk is full or that an operator blocked.',
    labelNames: ['store'],
    registers: [registry],
    async collect() {
      for (const [store, state] of Object.entries(await sources.storeStates()))
        if (state !== undefined) this.set({ store }, state === 'ok' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'reachline_credit_reservations_overdue',
    help: 'Credits reserved for more than a minute, for a contact that could neither be found nor ruled out; reservations.',
    registers: [registry],
    collect() {
      this.set(sources.recovery()?.overdueReservations ?? 0);
    },
  });
  new Counter({
    name: 'reachline_recovery_failures_total',
    help: 'Steps of the recovery job that failed, to be tried again in the next run.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(sources.recovery()?.failures ?? 0);
    },
  });
  // Looking up a series by its labels is slower than observing it.
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
      help: 'Answers that were an error, over HTTP or by a tool of /mcp, by code.',
      labelNames: ['code'],
      registers: [registry],
    }),
    mcpOperations: new Counter({
      name: 'reachline_mcp_operations_total',
      help: 'Operations that assistants ran through /mcp, by operation and by the status that it would answer over HTTP.',
      labelNames: ['operation', 'status'],
      registers: [registry],
    }),
    stores: new Histogram({
      name: 'reachline_store_request_duration_seconds',
      help: 'Time a store took, by method of its port.',
      labelNames: ['store', 'operation', 'outcome'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [registry],
    }),
    ingested: new Counter({
      name: 'reachline_ingest_records_total',
      help: 'Records taken in over HTTP, by stream and outcome.',
      labelNames: ['stream', 'outcome'],
      registers: [registry],
    }),
  };
}
