/**
 * Images under the names that the Dockerfile and docker-compose.yml ask for, made of what package registries have, for machines
 * that cannot pull the real ones. An image that is there already is used and left.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import {
  debianArchive,
  elasticsearchDistribution,
  kafkaDistribution,
  nodeDistribution,
} from '../stack/distributions.js';
import { findJava } from '../stack/java.js';
import { StackError } from '../stack/stack-error.js';
import { tempFolder } from '../support/temp-folder.js';
import { buildFrom, docker, imageExists, LABEL, REPOSITORY, step } from './docker.js';

const FOLDER = join(packageRoot, 'test/containers/stand-ins');
const DEBIAN = 'bookworm';

const read = (name: string) => readFileSync(join(packageRoot, name), 'utf8');

/** Names with tags, each once. */
function imagesOf(pattern: RegExp, text: string): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name]) => name as string))];
}

/** Makes what is missing of the bases of the Dockerfile. */
export const makeBases = () => makeMissing(imagesOf(/^FROM (\S+:\S+)/gm, read('Dockerfile')));

/** Makes what is missing of the servers in docker-compose.yml, of the image `full` among others. */
export function makeServerImages(): Promise<void> {
  const own = /^reachline:/;
  const images = imagesOf(/^ +image: (\S+)$/gm, read('docker-compose.yml'));
  return makeMissing(images.filter((name) => !own.test(name)));
}

async function makeMissing(names: readonly string[]): Promise<void> {
  for (const name of names) {
    if (await imageExists(name)) console.log(`${name} is there already`);
    else await step(`stand-in for ${name}`, () => make(name));
  }
}

async function make(name: string): Promise<void> {
  const [repository = '', tag = ''] = name.split(/:(?=[^:]*$)/);
  switch (basename(repository)) {
    case 'node':
      return makeNode(name, /^\d+\.\d+\.\d+/.exec(tag)?.[0] ?? tag);
    case 'elasticsearch':
      await makeJava();
      return build(name, 'elasticsearch', {
        elasticsearch: await elasticsearchDistribution(),
        'accounts.js': join(packageRoot, 'dist/test/containers/stand-ins/elasticsearch/accounts.js'),
      });
    case 'kafka':
      await makeJava();
      return build(name, 'kafka', { kafka: await kafkaDistribution() });
    case 'nginx-unprivileged':
      await makeServers();
      return build(name, 'nginx', {});
    case 'clickhouse-server':
      // The engine is in our own image, the server in what was compiled here.
      return build(name, 'clickhouse', { test: join(packageRoot, 'dist/test') });
    default:
      throw new StackError(`Nothing is known that could stand in for ${name}`);
  }
}

async function makeDebian(): Promise<void> {
  const name = `${REPOSITORY}:debian`;
  if (await imageExists(name)) return;
  await docker('import', '--change', `LABEL ${LABEL}=`, await debianArchive(DEBIAN), name);
}

/** With the certificates and the registry that npm uses on this machine. */
async function makeNode(name: string, version: string): Promise<void> {
  await makeDebian();
  const extra = process.env.NODE_EXTRA_CA_CERTS;
  const settings = tempFolder();
  const registry = process.env.npm_config_registry;
  writeFileSync(join(settings, 'npmrc'), registry ? `registry=${registry}\n` : '');
  if (extra) copyFileSync(extra, join(settings, 'certificates.pem'));
  else writeFileSync(join(settings, 'certificates.pem'), '');
  const packages = join(await nodeDistribution(version), 'node_modules');
  const certificates = extra ? '/etc/ssl/certs/machine.pem' : '';
  await build(
    name,
    'node',
    {
      node_modules: packages,
      npmrc: join(settings, 'npmrc'),
      'certificates.pem': join(settings, 'certificates.pem'),
    },
    ['--build-arg', `NODE_EXTRA_CA_CERTS=${certificates}`],
  );
}

async function makeServers(): Promise<void> {
  const name = `${REPOSITORY}:servers`;
  if (await imageExists(name)) return;
  await makeDebian();
  await build(name, 'servers', {});
}

async function makeJava(): Promise<void> {
  const name = `${REPOSITORY}:java`;
  if (await imageExists(name)) return;
  await makeServers();
  await build(name, 'java', { java: findJava(21) });
}

/** Builds a folder of `stand-ins`, with files and folders from elsewhere in its context under the names given. */
async function build(
  name: string,
  folder: string,
  added: Record<string, string>,
  args: string[] = [],
): Promise<void> {
  const parts = Object.entries(added).flatMap(([as, path]) => [
    '--transform',
    `s,^${basename(path).replaceAll(/[.[\]^$*]/g, '\\$&')}\\(/\\|$\\),${as}\\1,S`,
    '--directory',
    dirname(path),
    basename(path),
  ]);
  const tar = spawn('tar', [
    '--create',
    '--dereference',
    '--hard-dereference',
    '--exclude=jmods',
    '--exclude=src.zip',
    '--exclude=*.ts',
    '--directory',
    join(FOLDER, folder),
    '.',
    ...parts,
  ]);
  tar.stderr.resume();
  await buildFrom(tar.stdout, '--tag', name, ...args);
}
