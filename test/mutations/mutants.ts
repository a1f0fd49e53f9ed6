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

const LOOP = 'ingest/worker/loop.js';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'commits before it writes',
    file: LOOP,
    replace: 'const unstorable = await untilWritten(',
    by: 'await slice.commit(); const unstorable = await untilWritten(',
    test: 'kill-points.test.js',
    only: 'during the write',
  },
  {
    name: 'an older contact wins',
    file: 'services/contacts/stored-contact.js',
    replace: 'version < before.recordMs',
    by: 'false',
    test: 'worker.test.js',
    only: 'repeated, mixed and restated',
  },
  {
    name: 'an older delivery wins',
    file: 'services/stores/clickhouse/rows.js',
    replace: '=> given(moment) === null ? acceptedAt : Date.parse(moment)',
    by: '=> 1',
    test: 'worker.test.js',
    only: 'repeated, mixed and restated',
  },
  {
    name: 'does not wait for dead letters',
    file: LOOP,
    replace: 'await sendDeadLetters(slice, refused);',
    by: 'sendDeadLetters(slice, refused).catch(() => undefined);',
    test: 'refused-dead-letters.test.js',
  },
  {
    name: 'drops dead letters',
    file: LOOP,
    replace: 'await sendDeadLetters(slice, refused);',
    by: '',
    test: 'refused-dead-letters.test.js',
  },
  {
    name: 'takes partitions for its own for ever',
    file: 'ingest/sources/kafka.js',
    replace: 'const isOurs = () => !isStale() && membership.holds(partition, epoch);',
    by: 'const isOurs = () => true;',
    test: 'frozen-points.test.js',
    only: 'contacts, after decode',
  },
  {
    name: 'writes as late as it likes',
    file: 'services/stores/clickhouse/http.js',
    replace: 'until === undefined ? name',
    by: 'true ? name',
    test: 'frozen-points.test.js',
    only: 'network-a-deliveries, after the fence',
  },
];
