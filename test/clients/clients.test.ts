import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { packageRoot } from '../../services/shared/fs.js';
import { javaLibrary, nodeEnvironment, pythonEnvironment } from '../stack/distributions.js';
import { startSampleGateway, type TestGateway } from '../support/gateway.js';
import { callsOf, PROGRAMS, pythonProgram } from './every-operation.js';

const TSC = [
  '--strict',
  '--skipLibCheck',
  '--esModuleInterop',
  ...['--target', 'es2022'],
  ...['--module', 'commonjs'],
  ...['--moduleResolution', 'node10'],
  ...['--types', 'node'],
  ...['--outDir', 'out'],
  'main.ts',
];

/** Generators and linters, in exact versions. */
const TOOLS = join(packageRoot, 'test/clients/tools');
const GENERATOR = 'org.openapitools:openapi-generator-cli:7.17.0';

/** Folders in which commands are looked up. */
let PATH: string;
let gateway: TestGateway;
let folder: string;
/** Address and key of the gateway, for a client. */
let environment: Record<string, string>;
let calls: ReturnType<typeof callsOf>;

before(async function () {
  this.timeout(600_000);
  const node = await nodeEnvironment(join(TOOLS, 'package.json'));
  const python = await pythonEnvironment(join(TOOLS, 'requirements.txt'));
  PATH = [join(node, 'node_modules/.bin'), join(python, 'bin'), process.env.PATH].join(':');
  // Within the folder of the tools, so that generated code finds their packages.
  folder = mkdtempSync(join(node, 'run-'));
  // The day after the last deliveries of the sample, because the clients ask for October 2026.
  const now = Date.parse('2026-11-01T12:00:00Z');
  gateway = await startSampleGateway({}, { now: () => now });
  const key = await gateway.keyFor(DEMO_ORGANIZATION);
  environment = { REACHLINE_URL: gateway.url, REACHLINE_API_KEY: key };
  const { text } = await gateway.call('/openapi.json', undefined, { method: 'GET', key: null });
  writeFileSync(join(folder, 'openapi.json'), text);
  calls = callsOf(JSON.parse(text));
  expect(calls).to.have.length.above(25);
});
after(async () => {
  await gateway?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Runs a command as a client of the gateway. Resolves with its output, and rejects with everything that it wrote. */
async function run(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, ...environment, PATH };
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** A folder for one client, with the program that uses it as `main`. */
function folderFor(program: string): string {
  const path = join(folder, basename(program).replace('.', '-'));
  mkdirSync(path);
  const main = `main${program.slice(program.lastIndexOf('.'))}`;
  copyFileSync(join(packageRoot, 'test/clients/programs', program), join(path, main));
  return path;
}

const generatePython = (path: string) => {
  const args = ['generate', '--path', '../openapi.json', '--output-path', 'generated', '--meta', 'none'];
  return run(path, 'python', ['-m', 'openapi_python_client', ...args]);
};

const allSucceed = (called: typeof calls) => Object.fromEntries(called.map(({ id }) => [id, 200]));

/** Results that every client must read and write: two pages of contacts, a problem, a month of a campaign, a visit, health and metrics. */
const EXPECTED = {
  contacts: 2,
  next: 2,
  problem: 'contact_not_found',
  points: 1,
  accepted: 1,
  ready: true,
  metrics: true,
};

describe('The served OpenAPI document', () => {
  it('has no error or warning for Spectral', async () => {
    writeFileSync(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
    await run(folder, 'spectral', ['lint', 'openapi.json', '--fail-severity', 'hint']);
  });

  it('has no error or warning for redocly lint', async () => {
    const found = await run(folder, 'redocly', ['lint', 'openapi.json', '--format', 'json']);
    const { totals } = JSON.parse(found.slice(found.indexOf('{'))) as { totals: object };
    expect(totals).to.include({ errors: 0, warnings: 0 });
  });
});

describe('A client generated', () => {
  it('by openapi-typescript compiles and works', async () => {
    const path = folderFor('openapi-fetch.ts');
    await run(path, 'openapi-typescript', ['../openapi.json', '--output', 'generated/schema.ts']);
    await run(path, 'tsc', TSC);
    const printed = await run(path, 'node', ['out/main.js']);
    expect(JSON.parse(printed)).to.deep.equal(EXPECTED);
  });

  const commands: Record<string, string[]> = {
    'openapi-typescript': ['openapi-typescript', '../openapi.json', '-o', 'generated/schema.ts'],
    'hey-api': ['openapi-ts', '-i', '../openapi.json', '-o', 'generated'],
    orval: ['orval', '--input', '../openapi.json', '--output', 'generated/api.ts'],
    'swagger-typescript-api': [
      'swagger-typescript-api',
      ...['generate', '--path', '../openapi.json', '--output', 'generated', '--name', 'api.ts'],
    ],
  };
  for (const [name, program] of Object.entries(PROGRAMS)) {
    it(`by ${name} with its default options compiles strictly and calls every operation`, async () => {
      const path = join(folder, `every-${name}`);
      mkdirSync(path);
      writeFileSync(join(path, 'main.ts'), program(calls));
      const [command = '', ...args] = commands[name] ?? [];
      await run(path, command, args);
      await run(path, 'tsc', TSC);
      expect(JSON.parse(await run(path, 'node', ['out/main.js']))).to.deep.equal(allSucceed(calls));
    });
  }

  it('by openapi-python-client with its default options calls every operation', async () => {
    const path = join(folder, 'every-openapi-python-client');
    mkdirSync(path);
    writeFileSync(join(path, 'main.py'), pythonProgram(calls));
    await generatePython(path);
    await run(path, 'python', ['-m', 'mypy', '--strict', '--follow-imports=silent', 'main.py']);
    expect(JSON.parse(await run(path, 'python', ['main.py']))).to.deep.equal(allSucceed(calls));
  });

  it('by openapi-python-client has the types of its program and works', async () => {
    const path = folderFor('openapi-python-client.py');
    await generatePython(path);
    await run(path, 'python', ['-m', 'mypy', '--follow-imports=silent', 'main.py']);
    const printed = await run(path, 'python', ['main.py']);
    expect(JSON.parse(printed)).to.deep.equal(EXPECTED);
  });
});

// Takes minutes of Maven and javac: `OPENAPI_GENERATOR=1 npm run test:nightly -- clients -g openapi-generator` enables it.
if (process.env.OPENAPI_GENERATOR) {
  describe('A client generated by openapi-generator', function () {
    this.timeout(600_000);
    async function generate(program: string, name: string, args: string[]): Promise<string> {
      const path = folderFor(`openapi-generator/${program}`);
      const document = join(folder, 'openapi.json');
      const classPath = await javaLibrary(GENERATOR);
      const main = 'org.openapitools.codegen.OpenAPIGenerator';
      const command = ['-cp', classPath, main, 'generate', '-i', document, '-g', name, ...args];
      await run(path, 'java', command);
      return path;
    }
    async function expectWorking(path: string, command: string, args: string[]): Promise<void> {
      const printed = await run(path, command, args);
      expect(JSON.parse(printed)).to.deep.equal({ contacts: 2, accepted: 1 });
    }

    it('for Go compiles, searches and ingests', async () => {
      const options = '--additional-properties=packageName=generated,withGoMod=false';
      const path = await generate('go.go', 'go', [
        '-o',
        'generated',
        options,
        '--global-property=apiTests=false',
      ]);
      writeFileSync(join(path, 'go.mod'), 'module client\n\ngo 1.23\n');
      await expectWorking(path, 'go', ['run', 'main.go']);
    });

    it('for Java compiles, searches and ingests', async () => {
      const packages = 'invokerPackage=generated,apiPackage=generated.api,modelPackage=generated.model';
      // By default, a list that was not set is sent as an empty list, which violates a rule.
      const properties = `${packages},containerDefaultToNull=true`;
      const options = ['--library', 'native', `--additional-properties=${properties}`];
      const path = await generate('java.java', 'java', ['-o', '.', ...options]);
      const copy = ['dependency:copy-dependencies', '-DoutputDirectory=lib'];
      await run(path, 'mvn', ['--batch-mode', '--quiet', ...copy]);
      const sourcePath = ['-cp', 'lib/*', '-sourcepath', 'src/main/java'];
      await run(path, 'javac', ['-nowarn', '-d', 'out', ...sourcePath, 'main.java']);
      await expectWorking(path, 'java', ['-cp', 'out:lib/*', 'Main']);
    });
  });
}
