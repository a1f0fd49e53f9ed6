import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { loadDemo } from '../../services/demo/load.js';
import { packageRoot } from '../../services/shared/fs.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { installTools, type Tools } from './tools.js';

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

let tools: Tools;
let gateway: TestGateway;
let folder: string;
/** What a client needs to know of the gateway. */
let environment: Record<string, string>;

before(async function () {
  this.timeout(600_000);
  tools = await installTools();
  // Inside the folder of the tools, so that generated code finds their packages.
  folder = mkdtempSync(join(tools.folder, 'run-'));
  // Deliveries of the sample end the day before; the clients ask for October 2026.
  const now = Date.parse('2026-11-01T12:00:00Z');
  gateway = await startTestGateway({}, { now: () => now });
  await loadDemo(gateway.stores, { now });
  const key = await gateway.keyFor(DEMO_ORGANIZATION);
  environment = { REACHLINE_URL: gateway.url, REACHLINE_API_KEY: key };
  const { text } = await gateway.call('/openapi.json', undefined, { method: 'GET', key: null });
  writeFileSync(join(folder, 'openapi.json'), text);
});
after(async () => {
  await gateway?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** A folder for one client, with the program that uses it as `main`. */
function folderFor(program: string): string {
  const path = join(folder, program.replace('.', '-'));
  mkdirSync(path);
  const main = `main${program.slice(program.lastIndexOf('.'))}`;
  copyFileSync(join(packageRoot, 'test/clients/programs', program), join(path, main));
  return path;
}

/** What every client reads and writes: two pages of contacts, a problem, a month of a campaign, a visit, health and metrics. */
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
    await tools.run(folder, 'spectral', ['lint', 'openapi.json', '--fail-severity', 'hint']);
  });

  it('has no error or warning for redocly lint', async () => {
    const found = await tools.run(folder, 'redocly', ['lint', 'openapi.json', '--format', 'json']);
    const { totals } = JSON.parse(found.slice(found.indexOf('{'))) as { totals: object };
    expect(totals).to.include({ errors: 0, warnings: 0 });
  });
});

describe('A client generated', () => {
  const TYPESCRIPT = {
    'openapi-fetch.ts': [
      'openapi-typescript',
      // Fields with a default may still be left out.
      ...['../openapi.json', '--output', 'generated/schema.ts', '--default-non-nullable=false'],
    ],
    'hey-api.ts': [
      'openapi-ts',
      ...['--input', '../openapi.json', '--output', 'generated', '--client', '@hey-api/client-fetch'],
      '--no-log-file',
    ],
    'orval.ts': [
      'orval',
      ...['--input', '../openapi.json', '--output', 'generated/api.ts', '--client', 'fetch'],
    ],
  };
  for (const [program, [command = '', ...args]] of Object.entries(TYPESCRIPT)) {
    it(`by ${command} compiles and works`, async () => {
      const path = folderFor(program);
      await tools.run(path, command, args);
      await tools.run(path, 'tsc', TSC);
      const printed = await tools.run(path, 'node', ['out/main.js'], environment);
      expect(JSON.parse(printed)).to.deep.equal(EXPECTED);
    });
  }

  it('by openapi-python-client has the types of its program and works', async () => {
    const path = folderFor('openapi-python-client.py');
    const output = ['--output-path', 'generated', '--meta', 'none'];
    await tools.run(path, 'openapi-python-client', ['generate', '--path', '../openapi.json', ...output]);
    await tools.run(path, 'mypy', ['--follow-imports=silent', 'main.py']);
    const printed = await tools.run(path, 'python3', ['main.py'], environment);
    expect(JSON.parse(printed)).to.deep.equal(EXPECTED);
  });
});
