/** The containers of docker-compose.yml, started as the README says. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../services/shared/fs.js';
import { freePort } from '../stack/free-port.js';
import { StackError } from '../stack/stack-error.js';
import { type Answer, callerOf } from '../support/gateway.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { docker, lines, PROJECT, REPOSITORY, run } from './docker.js';

export const ORGANIZATION = 'org_containers';
/** Every service except `migrate`, which ends. */
export const SERVICES = ['nginx', 'gateway-1', 'gateway-2', 'worker', 'elasticsearch', 'clickhouse', 'kafka'];
const HEALTH_TIMEOUT_MS = 300_000;

export class ContainerStack {
  readonly url: string;
  readonly #folder = tempFolder();
  readonly #compose: readonly string[];
  #key: string | undefined;

  private constructor(compose: readonly string[], port: number) {
    this.#compose = compose;
    this.url = `http://127.0.0.1:${port}`;
    const settings = readFileSync(join(packageRoot, '.env.example'), 'utf8')
      .replaceAll(/^(\w+PASSWORD)=$/gm, (_, name) => `${name}=${randomBytes(12).toString('hex')}`)
      .concat(
        `LISTEN=127.0.0.1:${port}\n`,
        'FRONT_NETWORK=172.31.249\n',
        'COMPOSE_PROFILES=ingest\n',
        'ELASTICSEARCH_HEAP=512m\n',
        'ELASTICSEARCH_MEMORY=1536m\n',
        'REACHLINE_RATE_LIMIT=0\n',
      );
    writeFileSync(join(this.#folder, 'env'), settings, { mode: 0o600 });
  }

  static async create(compose: readonly string[]): Promise<ContainerStack> {
    return new ContainerStack(compose, await freePort());
  }

  /** Compose with the files and settings of this stack. */
  compose(args: readonly string[], image = `${REPOSITORY}:slim`): Promise<string> {
    const files = ['docker-compose.yml', 'test/containers/docker-compose.yml'];
    const options = [
      ['--project-name', PROJECT],
      ['--env-file', join(this.#folder, 'env')],
      ['--project-directory', packageRoot],
      ...files.map((file) => ['--file', join(packageRoot, file)]),
    ];
    return run([...this.#compose, ...options.flat(), ...args], {
      REACHLINE_TEST_IMAGE: image,
      OPEN_FILES: String(openFiles()),
    });
  }

  async remove(): Promise<void> {
    await this.compose(['down', '--volumes', '--remove-orphans', '--timeout', '5']);
  }

  async containerOf(service: string): Promise<string> {
    const labels = [`project=${PROJECT}`, `service=${service}`];
    const filters = labels.flatMap((label) => ['--filter', `label=com.docker.compose.${label}`]);
    const [name] = lines(await docker('container', 'ls', '--all', '--format', '{{.Names}}', ...filters));
    if (name === undefined) throw new StackError(`There is no container of ${service}`);
    return name;
  }

  async inspect<Value>(container: string, path: string): Promise<Value> {
    return JSON.parse(await docker('inspect', '--format', `{{json ${path}}}`, container)) as Value;
  }

  async exec(service: string, ...command: string[]): Promise<string> {
    return docker('exec', await this.containerOf(service), ...command);
  }

  /** `reachline` in a gateway. */
  reachline(...args: string[]): Promise<string> {
    return this.exec('gateway-2', 'node', 'dist/services/cli/main.js', ...args);
  }

  async key(): Promise<string> {
    this.#key ??= await this.reachline('keys', 'create', '--organization', ORGANIZATION, '--scopes', '*');
    return this.#key;
  }

  /** Resolves once the named services are healthy. */
  async healthy(...services: string[]): Promise<void> {
    for (const service of services) {
      const isHealthy = async () =>
        (await this.inspect(await this.containerOf(service), '.State.Health.Status')) === 'healthy';
      await until(isHealthy, `${service} is healthy`, { pollMs: 500, timeoutMs: HEALTH_TIMEOUT_MS });
    }
  }

  /** Sends a request as a client does. Rejects when the connection breaks. */
  async call(path: string, body: object): Promise<Answer> {
    return callerOf(this.url, await this.key()).call(path, body);
  }

  async ingest(stream: string, records: readonly object[]): Promise<Answer> {
    return callerOf(this.url, await this.key()).ingest(stream, records);
  }

  /** Repeats a read until it succeeds. */
  async read(path: string, body: object): Promise<Record<string, unknown>> {
    for (let attempt = 0; ; attempt++) {
      const answer = await this.call(path, { organization_id: ORGANIZATION, ...body }).catch(() => undefined);
      if (answer?.status === 200) return answer.body;
      if (attempt === 240) throw new StackError(`${path} is not answered: ${answer?.text}`);
      await pause(500);
    }
  }
}

/** The hard limit of open files of this process, up to what the servers require. */
function openFiles(): number {
  const [, hard] = /^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return Math.min(65_535, Number(hard ?? 65_535));
}
