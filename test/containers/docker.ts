/** Docker's command line. What these tests make has a label, and they change nothing that has it not. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { composeProgram } from '../stack/distributions.js';
import { MissingPrerequisite, StackError } from '../stack/stack-error.js';

/** Inherited by every image that is built on one that has it. */
export const LABEL = 'reachline.test.containers';
/** Name of the Compose project, which is the label of its containers, networks and volumes. */
export const PROJECT = 'reachline-test';
/** Of the images that no file asks for. */
export const REPOSITORY = 'reachline-test';

// BuildKit fetches the frontend of the `syntax` line, and bases that were never pushed anywhere.
const ENVIRONMENT = {
  ...process.env,
  DOCKER_BUILDKIT: '0',
  COMPOSE_ANSI: 'never',
  COMPOSE_PROGRESS: 'plain',
};
const OUTPUT_BYTES = 256 * 1024 * 1024;

const interruption = new AbortController();
let { signal }: { signal?: AbortSignal } = interruption;

/** Ends the commands that run; later ones, which clean up, run as before. */
export function interruptCommands(): void {
  signal = undefined;
  interruption.abort();
}

/** Standard output. Throws a `StackError` with the end of standard error. */
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

/** What a container wrote to both outputs. */
export async function logsOf(container: string, tail: number): Promise<string> {
  const args = ['logs', '--tail', String(tail), container];
  const { stdout, stderr } = await promisify(execFile)('docker', args, { maxBuffer: OUTPUT_BYTES, signal });
  return stdout + stderr;
}

/** Builds an image of a context that is a tar archive, as `docker build -` reads it. */
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

/** Throws `MissingPrerequisite` where no engine answers. */
export async function requireEngine(): Promise<string> {
  return docker('version', '--format', '{{.Server.Version}}').catch((error: Error) => {
    throw new MissingPrerequisite(`No Docker Engine answers: ${error.message}`);
  });
}

/** Docker Compose as a plugin or a program; made from its source where neither is there. */
export async function findCompose(): Promise<string[]> {
  for (const candidate of [['docker', 'compose'], ['docker-compose']]) {
    if (await run([...candidate, 'version']).then(isRecent, () => false)) return candidate;
  }
  return [await composeProgram()];
}

/** `!override` and optional dependencies. */
const isRecent = (version: string) => /\bv?(2\.(2[4-9]|[3-9]\d)|[3-9]\.)/.test(version);

export async function imageExists(name: string): Promise<boolean> {
  return (await docker('image', 'ls', '--quiet', name)) !== '';
}

export const lines = (text: string) => text.split('\n').filter((line) => line !== '');

/** Removes every container, network, volume and, unless they are kept, image of these tests, also those of a run that was killed. */
export async function removeAll({ keepImages = false } = {}): Promise<void> {
  const ofProject = ['--quiet', '--filter', `label=com.docker.compose.project=${PROJECT}`];
  const containers = lines(await docker('container', 'ls', '--all', ...ofProject));
  if (containers.length > 0) await docker('container', 'rm', '--force', '--volumes', ...containers);
  for (const kind of ['network', 'volume']) {
    const left = lines(await docker(kind, 'ls', ...ofProject));
    if (left.length > 0) await docker(kind, 'rm', ...left);
  }
  // Containers of builds that were interrupted.
  const labelled = ['--quiet', '--filter', `label=${LABEL}`];
  const building = lines(await docker('container', 'ls', '--all', ...labelled));
  if (building.length > 0) await docker('container', 'rm', '--force', ...building);
  if (keepImages) return;
  const named = await docker(
    'image',
    'ls',
    '--filter',
    `label=${LABEL}`,
    '--format',
    '{{.Repository}}:{{.Tag}}',
  );
  const names = lines(named).filter((name) => !name.includes('<none>'));
  if (names.length > 0) await docker('image', 'rm', '--force', ...names);
  const rest = [...new Set(lines(await docker('image', 'ls', '--all', ...labelled)))];
  if (rest.length > 0) await docker('image', 'rm', '--force', ...rest).catch(() => undefined);
}
