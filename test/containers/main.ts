/**
 * The images and docker-compose.yml on a Docker Engine: `npm run test:containers -- [--keep-images] [part of a scenario's name …]`.
 * Images that cannot be pulled have stand-ins. Everything that was made is removed at the end, also after SIGINT and SIGTERM.
 */
import { execFileSync, spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../services/shared/fs.js';
import { MissingPrerequisite, StackError } from '../stack/stack-error.js';
import { ContainerStack, type StackOptions } from './container-stack.js';
import {
  buildFrom,
  docker,
  findCompose,
  imageExists,
  interruptCommands,
  LABEL,
  REPOSITORY,
  removeAll,
  requireEngine,
} from './docker.js';
import { gatewayKilled, gatewayStopped, nginxWithOneGateway } from './scenarios/gateways.js';
import { fullVolumes, hostileClients, memoryLimit } from './scenarios/limits.js';
import { anyOrder, confinement, tls, wholeRequest } from './scenarios/request.js';
import type { Outcome, Scenario } from './scenarios/scenario.js';
import { BEFORE, rollingUpgrade } from './scenarios/upgrade.js';
import { networkCuts, workerPaused } from './scenarios/workers.js';
import { makeBases, makeServerImages } from './stand-ins.js';
import { step } from './steps.js';

/** What test runners understand as "skipped". */
const SKIPPED = 77;

const SCENARIOS = [
  wholeRequest,
  confinement,
  gatewayKilled,
  gatewayStopped,
  nginxWithOneGateway,
  workerPaused,
  ...networkCuts,
  memoryLimit,
  hostileClients,
  anyOrder,
  tls,
];
/** On a stack of the commit before, with volumes that can be filled. */
const SCENARIOS_OF_UPGRADE = [rollingUpgrade, ...fullVolumes];

const { values, positionals } = parseArgs({
  options: { 'keep-images': { type: 'boolean', default: false } },
  allowPositionals: true,
});
/** Leaves the images, and does not build those that an earlier run left. */
const keepImages = values['keep-images'];
const isChosen = ({ name }: Scenario) =>
  positionals.length === 0 || positionals.some((part) => name.toLowerCase().includes(part.toLowerCase()));

const rows: { scenario: Scenario; outcome: Outcome | Error; seconds: number }[] = [];

async function main(): Promise<void> {
  console.log(`Docker Engine ${await requireEngine()}`);
  const compose = await step('Docker Compose', findCompose);
  await removeAll({ keepImages: true });
  await makeBases();
  for (const target of ['full', 'slim']) {
    await buildOnce(`image ${target}`, `${REPOSITORY}:${target}`, async (name) => {
      await docker('build', '--quiet', '--label', LABEL, '--target', target, '--tag', name, packageRoot);
    });
  }
  await printSizes();
  await makeServerImages();
  await runOn(compose, {}, SCENARIOS.filter(isChosen));
  const ofUpgrade = SCENARIOS_OF_UPGRADE.filter(isChosen);
  if (ofUpgrade.length > 0) {
    await buildOnce('image of the commit before', BEFORE, buildBefore);
    await runOn(compose, { files: ['test/containers/volumes.yml'], image: BEFORE }, ofUpgrade);
  }
}

async function runOn(
  compose: readonly string[],
  options: StackOptions,
  scenarios: readonly Scenario[],
): Promise<void> {
  if (scenarios.length === 0) return;
  const stack = await ContainerStack.create(compose, options);
  const up = ['up', '--detach', options.image || keepImages ? '--no-build' : '--build', '--wait'];
  try {
    await step('docker compose up --build --wait', () => stack.compose(up, { image: options.image }));
    await step('an API key', () => stack.key());
    for (const scenario of scenarios) {
      const begun = performance.now();
      const outcome = await step(scenario.name, () => scenario.run(stack)).catch((error: Error) => error);
      rows.push({ scenario, outcome, seconds: Math.round((performance.now() - begun) / 1000) });
      if (outcome instanceof Error) {
        process.exitCode = 1;
        console.error(outcome);
      } else console.log(`  ${outcome.seen}`);
    }
  } catch (error) {
    console.error(await stack.compose(['logs', '--tail', '40']).catch(() => ''));
    throw error;
  } finally {
    await step('docker compose down', () => stack.remove());
  }
}

/** An image that was kept is not built again. */
async function buildOnce(title: string, name: string, build: (name: string) => Promise<void>): Promise<void> {
  if (keepImages && (await imageExists(name))) console.log(`${title} was kept`);
  else await step(title, () => build(name));
}

async function buildBefore(): Promise<void> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: packageRoot, encoding: 'utf8' }).trim();
  const commit = git('rev-parse', 'HEAD~1');
  const archive = spawn('git', ['archive', commit], { cwd: packageRoot });
  await buildFrom(archive.stdout, '--target', 'slim', '--tag', BEFORE);
}

async function printSizes(): Promise<void> {
  const size = async (name: string) =>
    Number(await docker('image', 'inspect', '--format', '{{.Size}}', name));
  const [base = ''] =
    /node:\S+/.exec(await docker('image', 'ls', '--format', '{{.Repository}}:{{.Tag}}', 'node')) ?? [];
  const baseSize = base ? await size(base) : 0;
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  for (const target of ['full', 'slim']) {
    const bytes = await size(`${REPOSITORY}:${target}`);
    console.log(`${target}: ${megabytes(bytes)}, ${megabytes(bytes - baseSize)} over its base`);
  }
}

function printTable(): void {
  console.log('\n| fault | what was done | what clients saw | lost | seconds |\n|---|---|---|---|---|');
  for (const { scenario, outcome, seconds } of rows) {
    const [seen, lost] =
      outcome instanceof Error
        ? [`FAILED: ${outcome.message.split('\n')[0]}`, '?']
        : [outcome.seen, outcome.lost];
    console.log(`| ${scenario.name} | ${scenario.done} | ${seen} | ${lost} | ${seconds} |`);
  }
}

const cleanUp = () => step('removal of everything that was made', () => removeAll({ keepImages }));
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
