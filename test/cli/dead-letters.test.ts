import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { filesWith } from '../support/files.js';
import type { ServerProcess } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { run, serve } from './support.js';

describe('Dead letters of HTTP ingest', function () {
  this.timeout(60_000);
  let folder: string;
  let env: Record<string, string>;
  let served: ServerProcess;
  before(async () => {
    folder = tempFolder();
    env = { REACHLINE_DATA_DIR: join(folder, 'data') };
    served = await serve([], { env });
  });
  after(async () => {
    await served.stop();
  });

  async function post(organization: string, query: string, type: string, body: string) {
    const { stdout } = await run(['keys', 'create', '--organization', organization, '--scopes', '*'], {
      env,
    });
    const response = await fetch(`${served.url}/api/ingest/contacts${query}`, {
      method: 'POST',
      headers: { 'X-Api-Key': stdout.trim(), 'Content-Type': type },
      body,
    });
    return (await response.json()) as { accepted: number; rejected: number };
  }
  interface Listed {
    organization_id: string;
    place: string;
    code: string;
    pointer: string;
    id: string;
    key: string | null;
    value: unknown;
  }
  async function list(...args: string[]): Promise<Listed[]> {
    const { stdout } = await run(['dead-letters', 'list', '--json', ...args], { env });
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Listed);
  }
  const corrected = async (lines: object[]) => {
    const path = join(folder, 'corrected.ndjson');
    await writeFile(path, lines.map((line) => JSON.stringify(line)).join('\n'));
    return ['dead-letters', 'replay', '--from', path];
  };

  it('are listed newest first with where, why and which record, and without its values', async () => {
    const lines = ['{"contact_id":"k1"}', '{"contact_id" :"k2","age":"oldvalue"}', '{'];
    expect(await post('org_a', '', 'application/x-ndjson', lines.join('\n'))).to.include({
      accepted: 1,
      rejected: 2,
    });
    await post('org_b', '', 'text/csv', 'contact_id,age\nk3,young\n');
    await post('org_b', '?on_reject=drop', 'application/json', '{"contact_id":""}');
    await post('org_b', '?on_reject=fail', 'application/json', '{"contact_id":""}');
    await post('org_b', '?dry_run=true', 'application/json', '{"contact_id":""}');
    const summary = (letters: Listed[]) =>
      letters.map(({ place, code, pointer, key, value }) => [place, code, pointer, key, value]);
    expect(summary(await list('--organization', 'org_a'))).to.have.deep.members([
      ['line 2', 'invalid_type', '/age', 'k2', null],
      ['line 3', 'invalid_json', '', null, null],
    ]);
    expect(summary(await list('--organization', 'org_b'))).to.deep.equal([
      ['line 2', 'invalid_number', '/age', 'k3', null],
    ]);
    expect(filesWith(join(folder, 'data'), ['oldvalue'])).to.deep.equal([]);
    const table = await run(['dead-letters', 'list', '--code', 'invalid_json'], { env });
    expect(table.stdout).to.match(
      /^STREAM +ORGANIZATION +PLACE.*\ncontacts +org_a +line 3 .*invalid_json.*\n$/,
    );
  });

  it('are listed alone with --organization, which says that those of Kafka are left out', async () => {
    const brokers = { ...env, KAFKA_BROKERS: '127.0.0.1:1' };
    const args = ['dead-letters', 'list', '--organization', 'org_a'];
    const { code, stdout, stderr } = await run(args, { env: brokers });
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr:
        'Dead letters of Kafka are not listed: --organization filters rejected records of HTTP ingest. Leave it out to list all.\n',
    });
    expect(stdout).to.contain('line 2');
    expect((await run(args, { env })).stderr).to.equal('');
  });

  it('are sent again as corrected in a file, through the server; those rejected again stay', async () => {
    const letters = await list('--organization', 'org_a');
    const [first, second] = ['line 2', 'line 3'].map((place) => letters.find((each) => each.place === place));
    const args = await corrected([
      { ...first, value: { contact_id: 'k2', age: 41 } },
      { ...second, value: { contact_id: 'k4', organization_id: 'org_b' } },
    ]);
    const { stdout, stderr } = await run(args, { env });
    expect(stdout, stderr).to.equal('2 records sent again, 1 rejected again.\n');
    expect(stderr).to.contain(`${second?.id}: organization_mismatch: `);
    expect((await list('--organization', 'org_a')).map(({ id }) => id)).to.deep.equal([second?.id]);
  });

  it('are not sent again without their record', async () => {
    const wrong = await run(await corrected(await list('--organization', 'org_b')), { env });
    expect(wrong.code).to.equal(1);
    expect(wrong.stderr).to.contain('Line 1 of').and.to.contain('"value"');
    const none = await run(['dead-letters', 'replay'], { env });
    expect(none.code).to.equal(2);
    expect(none.stderr).to.contain('--from');
  });

  it('are sent into the data folder when no server has it, in the order of their acceptance', async () => {
    await post('org_b', '', 'application/json', '{"contact_id":"k3","age":21,"city":"Oslo"}');
    await served.stop();
    const [letter] = await list('--organization', 'org_b');
    const args = await corrected([{ ...letter, value: { contact_id: 'k3', age: 20 } }]);
    expect((await run([...args, '--dry-run'], { env })).stdout).to.equal('1 record would be sent again.\n');
    const { stdout, stderr } = await run(args, { env });
    expect(stdout, stderr).to.equal('1 record sent again, 0 rejected again.\n');
    expect(await list('--organization', 'org_b')).to.deep.equal([]);
    const exported = await run(['export', 'contacts', '--organization', 'org_b'], { env });
    expect(exported.stdout).to.contain('"age":21').and.to.contain('Oslo');
  });
});
