/** Servers and clients from registries that tests need. Each is unpacked once into a cache folder, which is then only read. */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MissingPrerequisite } from './stack-error.js';

const ELASTICSEARCH = '9.5.0';
const KAFKA = '4.1.0';
const ZOOKEEPER = '3.9.3';
/** Packages that ZooKeeper needs and does not declare. */
const ZOOKEEPER_RUNTIME = [
  { group: 'org.xerial.snappy', name: 'snappy-java', version: '1.1.10.7' },
  { group: 'io.dropwizard.metrics', name: 'metrics-core', version: '4.1.12.1' },
];
const SLF4J_SIMPLE = '1.7.36';

/** Folder that holds `bin` and `lib`. */
export async function elasticsearchDistribution(): Promise<string> {
  const name = `elasticsearch-${ELASTICSEARCH}`;
  const artifact = `org.elasticsearch.distribution.integ-test-zip:elasticsearch:${ELASTICSEARCH}:zip`;
  const folder = await cached(name, (into) =>
    maven(['dependency:unpack', `-Dartifact=${artifact}`, `-DoutputDirectory=${into}`], into),
  );
  return join(folder, name);
}

/** Folder of the jar files. */
export const kafkaDistribution = (): Promise<string> =>
  jars(`kafka-${KAFKA}`, { group: 'org.apache.kafka', name: 'kafka_2.13', version: KAFKA });

/** Folder of the jar files. */
export const zooKeeperDistribution = (): Promise<string> =>
  jars(
    `zookeeper-${ZOOKEEPER}`,
    { group: 'org.apache.zookeeper', name: 'zookeeper', version: ZOOKEEPER },
    ...ZOOKEEPER_RUNTIME,
  );

/** Command that installs each tool. */
const HOW: Record<string, string> = {
  go: 'apt-get install golang',
  mvn: 'apt-get install maven, or brew install maven',
  python3: 'apt-get install python3-venv',
};

/** Throws a `MissingPrerequisite` that says what to install, or the end of what the tool wrote. */
async function runTool(command: string, args: readonly string[], cwd?: string): Promise<void> {
  const options = { cwd, maxBuffer: 64 * 1024 * 1024 };
  try {
    await promisify(execFile)(command, args, options);
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: string; stdout?: string; stderr?: string };
    if (code === 'ENOENT')
      throw new MissingPrerequisite(`${command} is missing (${HOW[command] ?? command}).`);
    const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-5).join('\n') || String(error);
    throw new MissingPrerequisite(`${command} ${args.join(' ')} failed:\n${said}`);
  }
}

const maven = (args: readonly string[], cwd: string) =>
  runTool('mvn', ['--batch-mode', '--quiet', ...args], cwd);

/** Class path of an artifact, such as `group:name:version:classifier`, and its dependencies. */
export async function javaLibrary(artifact: string): Promise<string> {
  const [group = '', name = '', version = '', classifier] = artifact.split(':');
  return join(await jars(`${name}-${version}`, { group, name, version, classifier }), '*');
}

/** Folder of the jar files of artifacts and their dependencies. */
const jars = (folder: string, ...artifacts: JavaDependency[]) =>
  cached(folder, (into) => {
    writeFileSync(join(into, 'pom.xml'), pom([...artifacts, LOGGING]));
    return maven(['dependency:copy-dependencies', `-DoutputDirectory=${into}`], into);
  });

/** The program of a folder with a `go.mod`, rebuilt when one of its files changes. */
export async function goProgram(source: string): Promise<string> {
  const folder = await cached(
    `go-${hashOf(join(source, 'go.mod'), join(source, 'main.go'))}`,
    async (into) => {
      for (const file of ['go.mod', 'main.go']) copyFileSync(join(source, file), join(into, file));
      await runTool('go', ['mod', 'tidy'], into);
      await runTool('go', ['build', '-o', 'program', '.'], into);
    },
  );
  return join(folder, 'program');
}

/** The folder of an environment with the packages of a file of requirements; its interpreter is `bin/python`. */
export const pythonEnvironment = (requirements: string): Promise<string> =>
  cached(`python-${hashOf(requirements)}`, async (into) => {
    await runTool('python3', ['-m', 'venv', into]);
    await runTool(join(into, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '-r', requirements]);
  });

/** The folder with the `node_modules` of a `package.json`. */
export const nodeEnvironment = (manifest: string): Promise<string> =>
  cached(`node-${hashOf(manifest)}`, async (into) => {
    copyFileSync(manifest, join(into, 'package.json'));
    await runTool('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], into);
  });

const hashOf = (...files: string[]) =>
  hash('sha256', files.map((file) => readFileSync(file, 'utf8')).join('\n')).slice(0, 12);

interface JavaDependency {
  group: string;
  name: string;
  version: string;
  classifier?: string;
}

const LOGGING: JavaDependency = { group: 'org.slf4j', name: 'slf4j-simple', version: SLF4J_SIMPLE };

const pom = (dependencies: readonly JavaDependency[]) => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>reachline</groupId>
  <artifactId>test</artifactId>
  <version>1</version>
  <dependencies>${dependencies
    .map(
      ({ group, name, version, classifier }) => `
    <dependency>
      <groupId>${group}</groupId>
      <artifactId>${name}</artifactId>
      <version>${version}</version>${classifier ? `\n      <classifier>${classifier}</classifier>` : ''}
    </dependency>`,
    )
    .join('')}
  </dependencies>
</project>
`;

/** The user that the servers run as cannot read root's home. */
function cacheFolder(): string {
  const fallback = process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache');
  return process.env.TEST_STACK_CACHE ?? join(fallback, 'reachline-stack');
}

/** Fills a folder beside its place and moves it there as a whole, so that two processes that do so at once cannot disturb each other. */
async function cached(name: string, fill: (into: string) => Promise<void>): Promise<string> {
  const cache = cacheFolder();
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const filling = mkdtempSync(join(cache, `.${name}-`));
  try {
    await fill(filling);
    chmodSync(filling, 0o755);
    if (!existsSync(folder)) renameSync(filling, folder);
  } finally {
    rmSync(filling, { recursive: true, force: true });
  }
  return folder;
}
