/** What a worker must not do, as a change to its compiled code, and the smallest test that must notice. */
export interface Mutant {
  name: string;
  /** Below `dist`. */
  file: string;
  replace: string;
  by: string;
  /** Below `dist/test/at-scale/kafka`. */
  test: string;
  /** Of the name of the test; all of the file when absent. */
  only?: string;
}

const PROCESSOR = 'ingest/worker/batch-processor.js';

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
    file: 'services/contacts/stored-contact.js',
    replace: 'order <= before.recordOrder',
    by: 'false',
    test: 'worker.test.js',
    only: 'repeated, mixed and restated',
  },
  {
    name: 'an older delivery wins',
    file: 'services/stores/clickhouse/rows.js',
    replace: 'recordOrder(record.reported_at, acceptedAt, sequence)',
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
    replace: 'recordOrder(record.reported_at, acceptedAt, sequence)',
    by: 'recordOrder(record.reported_at, 0, 0)',
    test: 'frozen-points.test.js',
    only: 'network-a-deliveries, before the write',
  },
  {
    name: 'a contact written late wins over one of equal age',
    file: 'services/contacts/stored-contact.js',
    replace: 'order <= before.recordOrder',
    by: 'order.slice(0, 16) < before.recordOrder.slice(0, 16)',
    test: 'frozen-points.test.js',
    only: 'contacts, before the write',
  },
];
