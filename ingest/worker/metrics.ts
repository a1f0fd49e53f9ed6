import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CommittedRecords } from './batch-processor.js';

/** Metrics of a worker. The names are contract. */
export interface WorkerMetrics {
  of(stream: string): StreamMetrics;
}

/** Metrics of one stream. */
export interface StreamMetrics {
  committed(committed: CommittedRecords, nowMs: number): void;
  retried(): void;
  /** Sets whether the consumer of the stream runs, or waits for its restart. */
  running(isRunning: boolean): void;
  restarted(): void;
  offsetLost(): void;
  /** Sets the number of uncommitted records by partition. Partitions that are no longer assigned are removed. */
  lag(partitions: ReadonlyMap<number, bigint>): void;
  /** Registers a function that returns the bytes of records that the consumer holds. The function is called when metrics are read. */
  held(readBytes: () => number): void;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  const records = new Counter({
    name: 'reachline_worker_records_total',
    help: 'Records read from Kafka and committed, by stream and outcome: applied, stale (the store has a newer record of the key) or rejected.',
    labelNames: ['stream', 'outcome'],
    registers,
  });
  const deadLetters = new Counter({
    name: 'reachline_worker_dead_letters_total',
    help: 'Records rejected and stored as dead letters, by stream, code and stage.',
    labelNames: ['stream', 'code', 'stage'],
    registers,
  });
  const batchRecords = new Histogram({
    name: 'reachline_worker_batch_records',
    help: 'Number of records per commit; a batch with a rejected record is committed in parts.',
    labelNames: ['stream'],
    buckets: [1, 10, 100, 500, 1000, 2500, 5000, 10_000, 25_000],
    registers,
  });
  const batchSeconds = new Histogram({
    name: 'reachline_worker_batch_duration_seconds',
    help: 'Time from the start of a batch until its records are written and its offsets committed.',
    labelNames: ['stream'],
    buckets: SECONDS,
    registers,
  });
  const age = new Histogram({
    name: 'reachline_worker_record_age_seconds',
    help: 'Age of the oldest record of a batch, from its acceptance until the batch is written and its offsets committed.',
    labelNames: ['stream'],
    buckets: [...SECONDS, 300, 3600],
    registers,
  });
  const lag = new Gauge({
    name: 'reachline_worker_lag_records',
    help: 'Records of a partition whose offsets are not committed yet.',
    labelNames: ['stream', 'partition'],
    registers,
  });
  const held = new Map<string, () => number>();
  new Gauge({
    name: 'reachline_worker_held_bytes',
    help: 'Bytes of fetched records in memory, by stream (limit 16 MiB for contacts, audiences and website visits, 96 MiB for other streams; a single larger record batch may exceed it).',
    labelNames: ['stream'],
    registers,
    collect() {
      for (const [stream, readBytes] of held) this.set({ stream }, readBytes());
    },
  });
  const retries = new Counter({
    name: 'reachline_worker_store_retries_total',
    help: 'Retries of writes because a store was unavailable.',
    labelNames: ['stream'],
    registers,
  });
  const offsetsLost = new Counter({
    name: 'reachline_worker_offsets_lost_total',
    help: 'Times that a topic no longer had the committed offset of a partition: its oldest records were deleted before they were read.',
    labelNames: ['stream'],
    registers,
  });
  const running = new Gauge({
    name: 'reachline_worker_stream_running',
    help: '1 if the consumer of a stream runs, 0 if it waits for its restart.',
    labelNames: ['stream'],
    registers,
  });
  const restarts = new Counter({
    name: 'reachline_worker_stream_restarts_total',
    help: 'Restarts of the consumer of a stream after a failure.',
    labelNames: ['stream'],
    registers,
  });
  return {
    of(stream) {
      for (const outcome of ['applied', 'stale', 'rejected']) records.inc({ stream, outcome }, 0);
      retries.inc({ stream }, 0);
      restarts.inc({ stream }, 0);
      running.set({ stream }, 0);
      offsetsLost.inc({ stream }, 0);
      const known = new Set<number>();
      const setLag = (partition: number, behind: number) => {
        known.add(partition);
        lag.set({ stream, partition }, behind);
      };
      return {
        committed({ partition, records: done, rejected, stale, lag: behind, startedMs }, nowMs) {
          records.inc({ stream, outcome: 'applied' }, done.length - rejected.length - stale);
          records.inc({ stream, outcome: 'stale' }, stale);
          records.inc({ stream, outcome: 'rejected' }, rejected.length);
          for (const { reason, stage } of rejected) deadLetters.inc({ stream, code: reason.code, stage });
          batchRecords.observe({ stream }, done.length);
          batchSeconds.observe({ stream }, (nowMs - startedMs) / 1000);
          const oldest = done[0]?.timestamp ?? Date.now();
          age.observe({ stream }, Math.max(0, Date.now() - oldest) / 1000);
          setLag(partition, behind);
        },
        running: (isRunning) => running.set({ stream }, isRunning ? 1 : 0),
        restarted: () => restarts.inc({ stream }),
        retried: () => retries.inc({ stream }),
        offsetLost: () => offsetsLost.inc({ stream }),
        held: (readBytes) => void held.set(stream, readBytes),
        lag(partitions) {
          for (const partition of known) {
            if (!partitions.has(partition) && known.delete(partition)) lag.remove({ stream, partition });
          }
          for (const [partition, behind] of partitions) setLag(partition, Number(behind));
        },
      };
    },
  };
}
