import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import type { Mutation } from './mutate.js';

const MOCHA = join(packageRoot, 'node_modules/mocha/bin/mocha.js');
const NODE_OPTIONS = `--import=file://${join(packageRoot, 'dist/test/mutants/mutate.js')}`;

interface Mutant extends Mutation {
  /** The file below `dist/test`, and the title, of a test that must fail. */
  test: [file: string, title: string];
}

const stored = (title: string): Mutant['test'] => ['stores/sqlite/record-store', title];

/**
 * Breaks each law of the design in the compiled code. The laws of the order of records and of the worker are in simulation/mutants.test.ts.
 */
const MUTANTS: Record<string, Mutant> = {
  'suppression: an erased person comes back': {
    file: 'services/stores/sqlite/erasure/suppression.js',
    from: "return entry[0] === 1n ? 'named' : 'found'",
    to: 'return undefined',
    test: stored('keep a person out whose address comes back'),
  },
  'credits: a contact is created that the balance does not cover': {
    file: 'services/contacts/creation.js',
    from: 'balance < requiredCredits',
    to: 'false',
    test: stored('the balance must cover the credits'),
  },
  'imports: undo deletes contacts that somebody has changed': {
    file: 'services/contacts/stored-contact.js',
    from: 'imported && { ...imported, isChanged: true }',
    to: 'imported',
    test: ['gateway/embedded', 'undo deletes what the import created and leaves what anybody has changed'],
  },
  'isolation: a body may name another organization': {
    file: 'services/http/request.js',
    from: "typeof sent !== 'string'",
    to: 'true',
    test: ['gateway/http', '/api/contacts/search rejects other organizations'],
  },
  'isolation: a contact is read by its id alone': {
    file: 'services/stores/sqlite/contacts/search.js',
    from: 'SELECT body FROM contacts WHERE organization = ? AND id = ?',
    to: 'SELECT body FROM contacts WHERE ? IS NOT NULL AND id = ?',
    test: stored('two organizations with the same ids do not see each other'),
  },
  'feed of changes: a deletion leaves no mark': {
    file: 'services/stores/sqlite/contacts/absences.js',
    from: '!keepsMarks',
    to: 'true',
    test: stored('marks of deleted contacts are deleted after seven days'),
  },
  'provisional days: the newest days are final': {
    file: 'services/advertising/calendar.js',
    from: '-provisionalDays',
    to: '0',
    test: ['status/status-reader', 'from which day on figures are provisional'],
  },
};

interface Failure {
  file: string;
  fullTitle: string;
  err: { stack?: string };
}

/** Failures of the tests of all mutants. Each mutant has its own tests; all run in one process. */
async function failuresOf(mutants: readonly Mutant[]): Promise<Failure[]> {
  const files = new Set(mutants.map(({ test: [file] }) => `dist/test/${file}.test.js`));
  const titles = mutants.map(({ test: [, title] }) => title).join('|');
  const child = spawn(process.execPath, [MOCHA, ...files, '-g', titles, '--reporter', 'json'], {
    cwd: packageRoot,
    env: { ...process.env, NODE_OPTIONS, MUTANTS: JSON.stringify(mutants) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await text(child.stdout);
  return (JSON.parse(output.slice(output.indexOf('{\n'))) as { failures: Failure[] }).failures;
}

describe('A test finds the broken law of', function () {
  this.timeout(120_000);
  let failures: Failure[];
  before(async () => {
    failures = await failuresOf(Object.values(MUTANTS));
  });

  for (const [name, { test }] of Object.entries(MUTANTS)) {
    it(name, () => {
      const [file, title] = test;
      const found = failures.filter(
        (each) => each.file.includes(`/${file}.test.`) && each.fullTitle.includes(title),
      );
      expect(found.map(({ err }) => err.stack).join('\n'), title).to.match(/^AssertionError/m);
    });
  }
});
