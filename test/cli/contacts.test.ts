import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ServerProcess } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { run, serve } from './support.js';

const person = ['--organization', 'org_c', '--email', 'ADA@lovelace.example'];

describe('The commands for single persons', function () {
  this.timeout(60_000);
  let folder: string;
  let env: Record<string, string>;
  let file: string;
  let served: ServerProcess | undefined;
  const contacts = (...args: string[]) => run(['contacts', ...args], { env });
  const load = () => run(['ingest', 'contacts', file, '--organization', 'org_c'], { env });

  before(async () => {
    folder = tempFolder();
    env = { REACHLINE_DATA_DIR: join(folder, 'data') };
    file = join(folder, 'contacts.ndjson');
    const records = [
      { contact_id: 'ada', first_name: 'Ada', work_emails: ['ada@lovelace.example'], audience_ids: ['a'] },
      { contact_id: 'bob', first_name: 'Bob' },
    ];
    await writeFile(file, records.map((record) => JSON.stringify(record)).join('\n'));
    await load();
  });
  after(async () => {
    await served?.stop();
  });

  it('need one of id, email and profile, and an organization', async () => {
    expect((await contacts('erase', '--organization', 'org_c')).code).to.equal(2);
    expect((await contacts('delete', '--id', 'ada')).stderr).to.include('--organization');
  });

  it('export all data of a person, and delete nothing in a dry run', async () => {
    const { stdout } = await contacts('export-person', ...person);
    const { contacts: found, audiences } = JSON.parse(stdout) as Record<string, object[]>;
    expect(found?.[0]).to.include({ contact_id: 'ada', first_name: 'Ada' });
    expect(found).to.have.length(1);
    expect(audiences).to.deep.equal([]);
    expect((await contacts('erase', ...person, '--dry-run')).stdout).to.equal(
      '1 contact would be erased: ada.\n',
    );
  });

  it('delete contacts, and a file that is loaded again brings them back', async () => {
    expect((await contacts('delete', '--organization', 'org_c', '--id', 'ada')).stdout).to.equal(
      '1 contact deleted: ada.\n',
    );
    expect((await load()).code).to.equal(0);
    expect((await contacts('delete', ...person, '--dry-run')).stdout).to.equal(
      '1 contact would be deleted: ada.\n',
    );
  });

  it('export nothing rather than leave audiences out that the gateway did not answer', async () => {
    const problem = {
      status: 403,
      code: 'insufficient_scope',
      detail: 'The key has no scope audiences:read.',
    };
    const gateway = createServer(({ url }, response) => {
      const isSearch = url === '/api/contacts/search';
      response.writeHead(isSearch ? 200 : problem.status, {
        'Content-Type': isSearch ? 'application/json' : 'application/problem+json',
      });
      const found = { contacts: [{ contact_id: 'ada', audience_ids: ['a'] }], next_cursor: null };
      response.end(JSON.stringify(isSearch ? found : problem));
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const { port } = gateway.address() as AddressInfo;
    const through = ['--url', `http://127.0.0.1:${port}`, '--api-key', 'rk_a_b'];
    const { code, stderr } = await contacts('export-person', ...person, ...through);
    gateway.close();
    expect(stderr).to.contain('insufficient_scope');
    expect(code).to.equal(1);
  });

  it('erase a person through the server that holds the folder, after which the file leaves the person out', async () => {
    served = await serve([], { env });
    const { code, stdout, stderr } = await contacts('erase', ...person);
    expect(code, stderr).to.equal(0);
    const { erased, proof } = JSON.parse(stdout) as { erased: string[]; proof: { proof_id: string } };
    expect(erased).to.deep.equal(['ada']);
    const listed = await contacts('erasures', '--organization', 'org_c');
    expect(JSON.parse(listed.stdout)).to.deep.equal(proof);
    const loaded = await load();
    expect(loaded.code).to.equal(0);
    expect(loaded.stderr + loaded.stdout).to.include('2 accepted (1 of erased persons left out)');
  });
});
