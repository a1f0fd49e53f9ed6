/** What a worker must not do, as a change of its compiled code, and the smallest test that must fail. */
export interface Mutant {
  name: string;
  /** Below `dist`. */
  file: string;
  replace: string;
  by: string;
  /** Below `dist/test/at-scale/kafka`; the simulation alone when absent. */
  test?: string;
  /** Part of the test's title; all of the file when absent. */
  only?: string;
}

const PROCESSOR = 'ingest/worker/batch-processor.js';
const WRITE_RECORDS = 'ingest/write-records.js';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'commits before it writes',
    file: PROCESSOR,
    replace: 'const result = await writeWithRetry(',
    by: 'await batch.commit(part.at(-1).record); const result = await writeWithRetry(',
    test: 'kill-points.test.js',
    only: 'during the write',
  },
  {
    name: 'an older contact wins',
    file: 'services/shared/record-order.js',
    replace: 'order <= before.recordOrder',
    by: 'false',
    test: 'worker.test.js',
    only: 'repeated, mixed and restated',
  },
  {
    name: 'an older delivery wins',
    file: 'services/stores/clickhouse/rows.js',
    replace: 'recordOrder(reportedAt(record), acceptedAt, sequence)',
    by: "'1'",
    test: 'worker.test.js',
    only: 'repeated, mixed and restated',
  },
  {
    name: 'does not wait for dead letters',
    file: PROCESSOR,
    replace: 'await batch.withHeartbeats(deps.sendDeadLetters(batch, rejected));',
    by: 'deps.sendDeadLetters(batch, rejected).catch(() => undefined);',
    test: 'rejected-dead-letters.test.js',
  },
  {
    name: 'drops dead letters',
    file: PROCESSOR,
    replace: 'await batch.withHeartbeats(deps.sendDeadLetters(batch, rejected));',
    by: 'void rejected;',
    test: 'rejected-dead-letters.test.js',
  },
  {
    name: 'a delivery written late wins over one of equal age',
    file: 'services/stores/clickhouse/rows.js',
    replace: 'recordOrder(reportedAt(record), acceptedAt, sequence)',
    by: 'recordOrder(reportedAt(record), 0, 0)',
    test: 'frozen-points.test.js',
    only: 'network-a-deliveries, before the write',
  },
  {
    name: 'a contact written late wins over one of equal age',
    file: 'services/shared/record-order.js',
    replace: 'order <= before.recordOrder',
    by: 'order.slice(0, 16) < before.recordOrder.slice(0, 16)',
    test: 'frozen-points.test.js',
    only: 'contacts, before the write',
  },
  {
    name: 'commits the offset of a batch that was aborted before its write',
    file: PROCESSOR,
    replace: "if (result === 'aborted')",
    by: "if (result === 'aborted') await batch.commit(part.at(-1).record);\nif (result === 'aborted')",
  },
  {
    name: 'takes an outage for a rejection',
    file: WRITE_RECORDS,
    replace: 'error instanceof RejectedError ||',
    by: 'error instanceof RejectedError || isOutage(error) ||',
  },
  {
    name: 'loses the first part of a batch that is split',
    file: PROCESSOR,
    replace: "if (result === 'split') {",
    by: "if (result === 'split') { rest = rest.slice(recordsAfterRejection);",
  },
  {
    name: 'loses every second part of a batch that is searched for rejected records',
    file: WRITE_RECORDS,
    replace: 'start += size',
    by: 'start += 2 * size',
  },
  {
    name: 'gives a replayed dead letter a new order',
    file: 'ingest/worker/dead-letters.js',
    replace: 'new Set([HEADER.attempts, HEADER.acceptedAt, HEADER.sequence])',
    by: 'new Set([HEADER.attempts])',
  },
];
