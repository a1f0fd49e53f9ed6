/** The generators and linters, in exact versions, installed into a cache outside of the repository. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const NODE_PACKAGES = {
  '@redocly/cli': '2.77.0',
  '@stoplight/spectral-cli': '6.16.3',
  '@types/node': '20.19.43',
  'openapi-fetch': '0.17.0',
  'openapi-typescript': '7.13.0',
  typescript: '5.9.3',
};
const GENERATOR = 'org.openapitools:openapi-generator-cli:7.17.0';
const PYTHON_PACKAGES = { mypy: '2.4.1', 'openapi-python-client': '0.29.1' };

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'reachline-clients');

export interface Tools {
  /** Where packages of npm are found from. */
  folder: string;
  /** Runs a tool of npm or Python, or another command, with these variables; resolves with its output, rejects with all it wrote. */
  run(
    cwd: string,
    command: string,
    args: readonly string[],
    environment?: Record<string, string>,
  ): Promise<string>;
}

/** Installs what the cache lacks. */
export async function installTools(): Promise<Tools> {
  const folder = await installNode('node', NODE_PACKAGES);
  return toolsIn(folder, await installPython('python', PYTHON_PACKAGES));
}

/** The jar of openapi-generator, of Maven Central; needs Java and Maven. */
export async function installGenerator(): Promise<string> {
  const [, name = '', version = ''] = GENERATOR.split(':');
  const jars = await installOnce('openapi-generator', { [name]: version }, async (path) => {
    const goal = ['dependency:copy', `-Dartifact=${GENERATOR}`, '-DoutputDirectory=.'];
    await exec('mvn', ['--batch-mode', '--quiet', ...goal], { cwd: path });
  });
  return join(jars, `${name}-${version}.jar`);
}

function toolsIn(folder: string, python: string): Tools {
  const PATH = [join(folder, 'node_modules/.bin'), join(python, 'bin'), process.env.PATH].join(':');
  return {
    folder,
    run: (cwd, command, args, environment = {}) =>
      exec(command, args, { cwd, env: { ...process.env, ...environment, PATH } }),
  };
}

const installNode = (kind: string, packages: Record<string, string>) =>
  installOnce(kind, packages, async (path) => {
    writeFileSync(join(path, 'package.json'), JSON.stringify({ private: true, dependencies: packages }));
    await exec('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: path });
  });

const installPython = (kind: string, packages: Record<string, string>) =>
  installOnce(kind, packages, async (path) => {
    await exec('python3', ['-m', 'venv', path]);
    const wanted = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
    await exec(join(path, 'bin/pip'), ['install', '--quiet', ...wanted]);
  });

/** The folder of these versions; one that was not installed to its end is installed again. */
async function installOnce(
  kind: string,
  versions: Record<string, string>,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify(versions)).digest('hex').slice(0, 12);
  const folder = join(CACHE, `${kind}-${digest}`);
  const done = join(folder, '.installed');
  if (existsSync(done)) return folder;
  mkdirSync(folder, { recursive: true });
  await install(folder);
  writeFileSync(done, '');
  return folder;
}

const execute = promisify(execFile);

async function exec(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  try {
    const { stdout } = await execute(command, [...args], { ...options, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}
