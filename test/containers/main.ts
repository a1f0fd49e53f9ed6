/**
 * The images and docker-compose.yml on a Docker Engine: `npm run test:nightly -- containers [--before <commit>] [part of a scenario's name
 * …]`. Everything created is removed at the end, also after SIGINT and SIGTERM.
 */
import { execFileSync, spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../services/shared/fs.js';
import { MissingPrerequisite, StackError } from '../stack/stack-error.js';
import { ContainerStack } from './container-stack.js';
import {
  buildFrom,
  docker,
  findCompose,
  interruptCommands,
  LABEL,
  REPOSITORY,
  removeAll,
  requireEngine,
  step,
} from './docker.js';
import { type EarlierImage, rollingUpgrade, SCENARIOS, type Scenario } from './scenarios.js';

/** Exit code that test runners understand as "skipped". */
const SKIPPED = 77;

const { values, positionals } = parseArgs({
  options: {
    /** Commit from which the rolling upgrade starts. */
    before: { type: 'string', default: 'HEAD~1' },
  },
  allowPositionals: true,
});
const isChosen = ({ name }: Scenario) =>
  positionals.length === 0 || positionals.some((part) => name.toLowerCase().includes(part.toLowerCase()));

const rows: { scenario: Scenario; outcome: string | Error; seconds: number }[] = [];

async function main(): Promise<void> {
  console.log(`Docker Engine ${await requireEngine()}`);
  const compose = await step('Docker Compose', findCompose);
  await removeAll();
  for (const target of ['full', 'slim']) {
    const name = `${REPOSITORY}:${target}`;
    const options = ['--quiet', '--label', LABEL, '--target', target, '--tag', name];
    await step(`image ${target}`, () => docker('build', ...options, packageRoot));
  }
  const earlier = earlierImage(values.before);
  const upgrade = earlier && rollingUpgrade(earlier);
  const scenarios = [...(upgrade ? [upgrade] : []), ...SCENARIOS].filter(isChosen);
  const image = upgrade && scenarios.includes(upgrade) ? earlier.image : undefined;
  if (earlier && image) {
    await step(`image of commit ${earlier.commit}`, () => buildCommit(earlier.commit, image));
  }
  const stack = await ContainerStack.create(compose);
  const up = ['up', '--detach', image ? '--no-build' : '--build', '--wait'];
  try {
    await step('docker compose up --build --wait', () => stack.compose(up, image));
    await step('an API key', () => stack.key());
    for (const scenario of scenarios) {
      const begun = performance.now();
      const outcome = await step(scenario.name, () => scenario.run(stack)).catch((error: Error) => error);
      rows.push({ scenario, outcome, seconds: Math.round((performance.now() - begun) / 1000) });
      if (outcome instanceof Error) {
        process.exitCode = 1;
        console.error(outcome);
      } else console.log(`  ${outcome}`);
    }
  } catch (error) {
    console.error(await stack.compose(['logs', '--tail', '40']).catch(() => ''));
    throw error;
  } finally {
    await step('docker compose down', () => stack.remove());
  }
}

const git = (...args: string[]) =>
  execFileSync('git', args, {
    cwd: packageRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/** Returns the earlier image, or prints why there is none to upgrade from. */
function earlierImage(name: string): EarlierImage | undefined {
  let commit: string;
  try {
    commit = git('rev-parse', '--short', '--verify', `${name}^{commit}`);
  } catch {
    console.log(`Rolling upgrade: not run, ${name} is not a commit of this folder's history`);
    return undefined;
  }
  // Gateways of both commits use the same indices and tables for a while.
  const stores = [':(glob)mappings/clickhouse/*.sql', 'mappings/elasticsearch'];
  const changed = git('diff', '--name-only', '--diff-filter=MDR', commit, '--', ...stores);
  if (changed === '') {
    return { commit, current: git('describe', '--always', '--dirty'), image: `${REPOSITORY}:${commit}` };
  }
  console.log(`Rolling upgrade: not run, these files of ${commit} were changed since:\n${changed}`);
  return undefined;
}

async function buildCommit(commit: string, name: string): Promise<void> {
  // Use the permissions of this folder, so that layers of the same files are built once.
  const archive = spawn('git', ['-c', 'tar.umask=0022', 'archive', commit], { cwd: packageRoot });
  await buildFrom(archive.stdout, '--target', 'slim', '--tag', name);
}

function printTable(): void {
  console.log('\n| fault | what was done | what clients saw | seconds |\n|---|---|---|---|');
  for (const { scenario, outcome, seconds } of rows) {
    const seen = outcome instanceof Error ? `FAILED: ${outcome.message.split('\n')[0]}` : outcome;
    console.log(`| ${scenario.name} | ${scenario.done} | ${seen} | ${seconds} |`);
  }
  console.log(`\n${rows.length} scenarios, ${Math.round(performance.now() / 60_000)} minutes in all`);
}

const cleanUp = () => step('removal of everything that was made', removeAll);
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupted) return;
    interrupted = true;
    console.log(`\n${signal}`);
    interruptCommands();
    void cleanUp().finally(() => process.exit(130));
  });
}

try {
  await main();
  printTable();
} catch (error) {
  if (!interrupted) {
    if (!(error instanceof StackError)) throw error;
    console.error(error.message);
    process.exitCode = error instanceof MissingPrerequisite ? SKIPPED : 1;
  }
} finally {
  if (!interrupted) await cleanUp().catch((error: Error) => console.error(error.message));
}
