/** What registries have and tests need, unpacked once into a cache folder that is only read: servers and clients. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MissingPrerequisite } from './stack-error.js';

const ELASTICSEARCH = '9.5.0';
const KAFKA = '4.1.0';
const SLF4J_SIMPLE = '1.7.36';
const TOXIPROXY = '2.5.0';

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
export function kafkaDistribution(): Promise<string> {
  return cached(`kafka-${KAFKA}`, (into) => {
    writeFileSync(join(into, 'pom.xml'), KAFKA_POM);
    return maven(['dependency:copy-dependencies', `-DoutputDirectory=${into}`], into);
  });
}

/** The program. */
export async function toxiproxyProgram(): Promise<string> {
  const folder = await cached(`toxiproxy-${TOXIPROXY}`, (into) =>
    installGo(`github.com/Shopify/toxiproxy/v2/cmd/server@v${TOXIPROXY}`, into),
  );
  return join(folder, 'server');
}

/** Folder for PYTHONPATH, with what the package needs. */
export async function pythonPackage(name: string, version: string): Promise<string> {
  const program = 'import sys; print("%d.%d" % sys.version_info[:2])';
  // Some packages are compiled for one version of Python.
  const python = (await runPython(['-c', program])).trim();
  return cached(`${name}-${version}-python${python}`, async (into) => {
    await runPython(['-m', 'pip', 'install', '--quiet', '--target', into, `${name}==${version}`]);
  });
}

const KAFKA_POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>reachline</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${KAFKA}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>${SLF4J_SIMPLE}</version>
    </dependency>
  </dependencies>
</project>
`;

/** Root's home is closed to the user that the servers run as. */
function cacheFolder(): string {
  const fallback = process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache');
  return process.env.TEST_STACK_CACHE ?? join(fallback, 'reachline-stack');
}

/** Fills the folder beside its place and moves it there whole, so that two that do so at once cannot disturb each other. */
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

async function maven(args: readonly string[], cwd: string): Promise<void> {
  try {
    await promisify(execFile)('mvn', ['--batch-mode', '--quiet', ...args], { cwd });
  } catch (error) {
    const { code, stdout = '' } = error as { code?: string | number; stdout?: string };
    if (code === 'ENOENT') {
      throw new MissingPrerequisite(
        'Maven is missing. Install it: apt-get install maven, or brew install maven.',
      );
    }
    const reason = stdout.split('\n').find((line) => line.startsWith('[ERROR]')) ?? String(error);
    throw new MissingPrerequisite(
      `Maven could not bring the server (check the connection to Maven Central, and try again):\n${reason}`,
    );
  }
}

async function runPython(args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('python3', args)).stdout;
  } catch (error) {
    const { code, stderr = '' } = error as { code?: string | number; stderr?: string };
    if (code === 'ENOENT') throw new MissingPrerequisite('Python is missing. Install python3 and its pip.');
    const reason = stderr.trim().split('\n').at(-1) ?? String(error);
    throw new MissingPrerequisite(`Python could not bring the package (pip must be there): ${reason}`);
  }
}

async function installGo(program: string, into: string): Promise<void> {
  try {
    await promisify(execFile)('go', ['install', program], { env: { ...process.env, GOBIN: into } });
  } catch (error) {
    const { code, stderr = '' } = error as { code?: string | number; stderr?: string };
    if (code === 'ENOENT')
      throw new MissingPrerequisite('Go is missing. Install it: apt-get install golang.');
    const reason = stderr.trim().split('\n').at(-1) ?? String(error);
    throw new MissingPrerequisite(`Go could not build ${program}: ${reason}`);
  }
}
