import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Everything this process counts. The names are contract. */
export interface Metrics {
  registry: Registry;
  /** The answer of `/metrics`. */
  render(): Promise<string>;
  observeRequest(operation: string, status: number, seconds: number): void;
  problems: Counter<'code'>;
  stores: Histogram<'store' | 'operation' | 'outcome'>;
  ingested: Counter<'stream' | 'outcome'>;
}

/** `queuedBytes` counts the records that wait for Kafka. */
export function createMetrics(queuedBytes = () => 0): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'reachline_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['operation', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  new Gauge({
    name: 'reachline_ingest_queue_bytes',
    help: 'Bytes of records taken in over HTTP that wait for Kafka or are on their way to it.',
    registers: [registry],
    collect() {
      this.set(queuedBytes());
    },
  });
  // Looking a series up by its labels anew costs more than observing it.
  const series = new Map<string, { observe(seconds: number): void }>();
  return {
    registry,
    render: () => registry.metrics(),
    observeRequest(operation, status, seconds) {
      const name = `${status} ${operation}`;
      let known = series.get(name);
      if (!known) {
        known = requests.labels(operation, String(status));
        series.set(name, known);
      }
      known.observe(seconds);
    },
    problems: new Counter({
      name: 'reachline_http_problems_total',
      help: 'Answers that were an error, by code.',
      labelNames: ['code'],
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
