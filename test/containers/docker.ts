/** Docker's command line. These tests label everything that they create, and change nothing without the label. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { MissingPrerequisite, StackError } from '../stack/stack-error.js';

/** Label of the images of these tests; images that are built on them inherit it. */
export const LABEL = 'reachline.test.containers';
/** Name of the Compose project, which is the label of its containers, networks and volumes. */
export const PROJECT = 'reachline-test';
/** Repository of images that no Compose file names. */
export const REPOSITORY = 'reachline-test';

const ENVIRONMENT = {
  ...process.env,
  COMPOSE_ANSI: 'never',
  COMPOSE_PROGRESS: 'plain',
};
const OUTPUT_BYTES = 256 * 1024 * 1024;

const interruption = new AbortController();
let { signal }: { signal?: AbortSignal } = interruption;

/** Ends the running commands. Later commands, which clean up, run as before. */
export function interruptCommands(): void {
  signal = undefined;
  interruption.abort();
}

/** Returns standard output. Throws a `StackError` with the end of standard error. */
export const docker = (...args: string[]) => run(['docker', ...args]);

export async function run(
  [program = '', ...args]: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  try {
    const options = { env: { ...ENVIRONMENT, ...environment }, maxBuffer: OUTPUT_BYTES, signal };
    return (await promisify(execFile)(program, args, options)).stdout.trim();
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string };
    const end = `${stdout}\n${stderr}`.trim().split('\n').slice(-15).join('\n');
    throw new StackError(`${program} ${args.join(' ')}: ${end || String(error)}`);
  }
}

/** The last lines that a container wrote to both outputs. */
export async function logsOf(container: string, tail: number): Promise<string> {
  const args = ['logs', '--tail', String(tail), container];
  const { stdout, stderr } = await promisify(execFile)('docker', args, { maxBuffer: OUTPUT_BYTES, signal });
  return stdout + stderr;
}

/** Builds an image from a tar archive as its context, as `docker build -` reads it. */
export async function buildFrom(context: Readable, ...args: string[]): Promise<void> {
  const build = spawn('docker', ['build', '--quiet', '--label', LABEL, ...args, '-'], {
    env: ENVIRONMENT,
    signal,
  });
  let output = '';
  for (const stream of [build.stdout, build.stderr]) stream.on('data', (chunk) => (output += chunk));
  build.on('error', () => undefined);
  // The engine stops reading when a step fails.
  build.stdin.on('error', () => undefined);
  context.pipe(build.stdin);
  const [code] = (await once(build, 'close')) as [number | null];
  if (code !== 0) throw new StackError(`docker build ${args.join(' ')}:\n${output.slice(-3000)}`);
}

/** Throws `MissingPrerequisite` if no Docker engine responds. */
export async function requireEngine(): Promise<string> {
  return docker('version', '--format', '{{.Server.Version}}').catch((error: Error) => {
    throw new MissingPrerequisite(`No Docker Engine answers: ${error.message}`);
  });
}

/** Docker Compose as a plugin or a program. */
export async function findCompose(): Promise<string[]> {
  for (const candidate of [['docker', 'compose'], ['docker-compose']]) {
    if (await run([...candidate, 'version']).then(isRecent, () => false)) return candidate;
  }
  throw new MissingPrerequisite('Docker Compose 2.24 or newer is missing (docker-compose-plugin).');
}

/** Versions with `!override` and optional dependencies. */
const isRecent = (version: string) => /\bv?(2\.(2[4-9]|[3-9]\d)|[3-9]\.)/.test(version);

export const lines = (text: string) => text.split('\n').filter((line) => line !== '');

/** Removes every container, network, volume and image of these tests, also from a run that was killed. */
export async function removeAll(): Promise<void> {
  const ofProject = ['--filter', `label=com.docker.compose.project=${PROJECT}`];
  // Containers of interrupted builds have only the label.
  const labelled = ['--filter', `label=${LABEL}`];
  for (const [list, ...remove] of [
    [['container', 'ls', '--all', ...ofProject], 'container', 'rm', '--force', '--volumes'],
    [['network', 'ls', ...ofProject], 'network', 'rm'],
    [['volume', 'ls', ...ofProject], 'volume', 'rm'],
    [['container', 'ls', '--all', ...labelled], 'container', 'rm', '--force'],
    [['image', 'ls', '--all', ...labelled], 'image', 'rm', '--force'],
  ] as const) {
    const left = [...new Set(lines(await docker(...list, '--quiet')))];
    if (left.length > 0) await docker(...remove, ...left);
  }
}

/** Prints progress for a person: the current step, and how long it took. */
export async function step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  process.stdout.write(`${name} …`);
  try {
    const result = await work();
    process.stdout.write(` ${Math.round((performance.now() - begun) / 1000)} s\n`);
    return result;
  } catch (error) {
    process.stdout.write(' failed\n');
    throw error;
  }
}
