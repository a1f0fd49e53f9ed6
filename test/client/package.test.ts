import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { packageRoot } from '../../services/shared/fs.js';
import { readDoc } from '../docs/support.js';
import { startSampleGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { tempFolder } from '../support/temp-folder.js';

const run = promisify(execFile);
const MARK = '<<< end of an example >>>';
const BUILT = join(packageRoot, 'dist/reachline-client');

/** Options under which a careless declaration file does not compile. `types` are the packages that the consumer has installed. */
const configOf = (types: string[], lib: string[]) => ({
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    module: 'NodeNext',
    target: 'ES2022',
    lib,
    types,
    typeRoots: [join(packageRoot, 'node_modules/@types')],
    outDir: 'out',
    rootDir: '.',
  },
});

/** A line that must not compile, each with the reason. */
const WRONG = `
import { createClient, type ResponseOf } from 'reachline-client';
const client = createClient({ apiKey: 'key' });
// @ts-expect-error: there is no such operation
void client.call('/api/contacts/serch', {});
// @ts-expect-error: the filter is misspelt
void client.call('/api/contacts/search', { contry: 'US' });
// @ts-expect-error: the audience is required
void client.call('/api/contacts/create', { first_name: 'Ada' });
// @ts-expect-error: the operation has no query parameters
void client.call('/api/contacts/get', { contact_id: 'a' }, { query: { dry_run: true } });
// @ts-expect-error: the operation answers no page
void client.items('/api/contacts/get', { contact_id: 'a' });
// @ts-expect-error: there is no such sort
void client.call('/api/advertising/network_a/companies', { start_date: 'a', end_date: 'b', sort_by: 'cpc' });
// @ts-expect-error: the record has no such field
void client.ingest('contacts', [{ contact_id: 'a', firstname: 'Ada' }]);
export const city = (contact: ResponseOf<'/api/contacts/search'>['contacts'][number]): string | null => contact.city;
`;

describe('The package reachline-client', function () {
  this.timeout(120_000);
  let folder: string;

  before(async () => {
    folder = tempFolder();
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    await run('npm', ['install', '--offline', '--install-links', BUILT], { cwd: folder });
  });

  async function compile(config: object, files: string[]): Promise<void> {
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, files }));
    const tsc = join(packageRoot, 'node_modules/@typescript/native/bin/tsc');
    await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) =>
      expect.fail(error.stdout),
    );
  }

  it('compiles in a strict project for browsers, and rejects what the API would reject', async () => {
    writeFileSync(join(folder, 'wrong.ts'), WRONG);
    await compile(configOf([], ['ES2022', 'DOM', 'DOM.AsyncIterable']), ['wrong.ts']);
  });

  it('brings no other package, and less than 300 kB', () => {
    const modules = join(folder, 'node_modules');
    expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).to.deep.equal(['reachline-client']);
    const sizes = readdirSync(join(modules, 'reachline-client')).map(
      (name) => statSync(join(modules, 'reachline-client', name)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size)).to.be.below(300_000);
  });

  it('describes fields in its declarations and imports nothing else', () => {
    const declarations = ['client', 'index', 'ingest', 'operations', 'problems', 'transport'].map((name) =>
      readFileSync(join(BUILT, `${name}.d.ts`), 'utf8'),
    );
    for (const text of declarations) expect(text).not.to.match(/from '(?!\.\/)/);
    expect(declarations[3]).to.contain('/** Whether the audience is used on network_a. */');
  });

  describe('with the examples of its page', () => {
    const gateway = useOpened(startSampleGateway);

    it('compiles in a strict project for Node.js and runs against a gateway', async () => {
      const examples = [...readDoc('docs/reference/client.md').matchAll(/```ts\n(.*?)```/gs)].map(
        ([, code]) => code,
      );
      expect(examples).to.have.length(7);
      const names = examples.map((_, index) => `example${index}`);
      // The first example makes the client that the others use.
      const [client] = (examples[0] as string).split('const { contacts');
      for (const [index, name] of names.entries()) {
        const example = examples[index] as string;
        writeFileSync(
          join(folder, `${name}.ts`),
          example.includes('createClient(') ? example : `${client}${example}`,
        );
      }
      await compile(
        configOf(['node'], ['ES2022']),
        names.map((name) => `${name}.ts`),
      );
      const env = {
        ...process.env,
        REACHLINE_URL: gateway.url,
        REACHLINE_API_KEY: await gateway.keyFor(DEMO_ORGANIZATION),
      };
      // Run the programs one after another in one process.
      const program = names
        .map((name) => `await import('./out/${name}.js'); console.log('${MARK}');`)
        .join('\n');
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
        env,
        cwd: folder,
      });
      const printed = stdout.split(`${MARK}\n`);
      expect(printed[0]).to.match(/^5 of \d+\n$/);
      expect(printed[1]).to.match(/^\d+ [\d.]+\n$/);
      expect(Number(printed[2])).to.be.above(0);
      const rows = readFileSync(join(folder, 'contacts.csv'), 'utf8').split('\r\n');
      expect(rows.length - 2).to.equal(Number(printed[2]));
      expect(printed[4]).to.equal('audience_not_found\n');
      expect(printed[5]).to.match(/^con_\w+ 1\n$/);
      expect(printed[6]).to.equal('3 are in.\n3 0\n');
    });
  });
});
