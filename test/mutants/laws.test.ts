import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import type { Mutation } from './mutate.js';

const MOCHA = join(packageRoot, 'node_modules/mocha/bin/mocha.js');
const NODE_OPTIONS = `--import=file://${join(packageRoot, 'dist/test/mutants/mutate.js')}`;

interface Mutant extends Mutation {
  /** The file below `dist/test`, and the title, of a test that must fail. */
  test: [file: string, title: string];
}

const SCHEDULES = ['simulation/simulation', 'finds no schedule'] as const;
const stored = (title: string): Mutant['test'] => ['stores/sqlite/search-store', title];

/** The laws of the design, each broken in the compiled code. Faults of the worker are those of simulation/mutants.test.ts. */
const MUTANTS: Record<string, Mutant> = {
  'order of records: a contact is what was written last': {
    file: 'services/shared/record-order.js',
    from: 'order < before.recordOrder',
    to: 'false',
    test: [...SCHEDULES],
  },
  'order of records: a report replaces one that is newer': {
    file: 'services/stores/clickhouse/rows.js',
    from: 'record.reported_at',
    to: 'undefined',
    test: [...SCHEDULES],
  },
  'suppression: an erased person comes back': {
    file: 'services/stores/sqlite/erasure/suppression.js',
    from: '.row(entry, organizationId, hash) !== undefined',
    to: '.row(entry, organizationId, hash) === null',
    test: stored('keep a person out whose address comes back'),
  },
  'credits: a contact is created that the balance does not cover': {
    file: 'services/contacts/creation.js',
    from: 'balance < requiredCredits',
    to: 'false',
    test: stored('the balance must cover the credits'),
  },
  'isolation: a body may name another organization': {
    file: 'services/http/request.js',
    from: "typeof sent !== 'string'",
    to: 'true',
    test: ['gateway/http', 'search rejects other keys, organizations'],
  },
  'isolation: a contact is read by its id alone': {
    file: 'services/stores/sqlite/contacts/search.js',
    from: 'organization = (SELECT key FROM organizations WHERE id = ?) AND id = ?',
    to: '? IS NOT NULL AND id = ?',
    test: stored('two organizations with the same ids do not see each other'),
  },
  'provisional days: the newest days are final': {
    file: 'services/advertising/calendar.js',
    from: '-provisionalDays',
    to: '0',
    test: ['status/status-reader', 'from which day on figures are provisional'],
  },
};

describe('A test finds the broken law of', function () {
  this.timeout(120_000);
  for (const [name, { test, ...mutation }] of Object.entries(MUTANTS)) {
    it(name, async () => {
      const [file, title] = test;
      const child = spawn(process.execPath, [MOCHA, `dist/test/${file}.test.js`, '-b', '-g', title], {
        cwd: packageRoot,
        env: { ...process.env, NODE_OPTIONS, MUTANT: JSON.stringify(mutation) },
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          output += chunk;
        });
      }
      await once(child, 'close');
      // A mutant that cannot be loaded is found by no assertion.
      expect(output, output)
        .to.match(/^ +\d+ failing$/m)
        .and.to.match(/AssertionError/);
    });
  }
});
