import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '../support/gateway.js';
import { run, type Served, serve } from './support.js';

describe('Dead letters of HTTP ingest', function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: Record<string, string>;
  let served: Served;
  before(async () => {
    folder = await temporaryFolder();
    env = { REACHLINE_DATA_DIR: join(folder.path, 'data') };
    await mkdir(join(folder.path, 'data', 'mappings'), { recursive: true });
    await writeMapping({});
    served = await serve([], { env });
  });
  after(async () => {
    await served.stop();
    await folder.remove();
  });

  const writeMapping = (more: object) =>
    writeFile(
      join(folder.path, 'data', 'mappings', 'crm.json'),
      JSON.stringify({
        stream: 'contacts',
        fields: { contact_id: 'Id', age: 'Years', created_at: 'Made' },
        ...more,
      }),
    );
  async function post(organization: string, query: string, type: string, body: string | Buffer) {
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
    attempts: number;
    code: string;
    id: string;
    value: string;
    mapping: string | null;
  }
  async function list(...args: string[]): Promise<Listed[]> {
    const { stdout } = await run(['dead-letters', 'list', '--json', ...args], { env });
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Listed);
  }

  it('are kept with their bytes and listed by organization, and those that were only to be named are not', async () => {
    const lines = [
      '{"contact_id":"k1"}',
      '{"contact_id" :"k2","age":"old"}',
      '{',
      `"${'x'.repeat(1_200_000)}"`,
    ];
    expect(await post('org_a', '', 'application/x-ndjson', lines.join('\n'))).to.include({
      accepted: 1,
      rejected: 3,
    });
    await post('org_b', '', 'text/csv', 'contact_id,age\nk3,young\n');
    await post('org_b', '?on_reject=drop', 'application/json', '{"contact_id":""}');
    await post('org_b', '?on_reject=fail', 'application/json', '{"contact_id":""}');
    await post('org_b', '?dry_run=true', 'application/json', '{"contact_id":""}');
    const summary = (letters: Listed[]) => letters.map(({ place, code, value }) => [place, code, value]);
    expect(summary(await list('--organization', 'org_a'))).to.deep.equal([
      ['line 2', 'invalid_type', lines[1]],
      ['line 3', 'invalid_json', '{'],
      ['line 4', 'line_too_long', lines[3]?.slice(0, 1024)],
    ]);
    expect(summary(await list('--organization', 'org_b'))).to.deep.equal([
      ['line 2', 'invalid_type', '{"contact_id":"k3","age":"young","organization_id":"org_b"}'],
    ]);
    const table = await run(['dead-letters', 'list', '--code', 'invalid_json'], { env });
    expect(table.stdout).to.match(
      /^STREAM +ORGANIZATION +PLACE.*\ncontacts +org_a +line 3 .*invalid_json.*\n$/,
    );
  });

  it('are replayed through the server; those rejected again stay, with one more attempt', async () => {
    const { stdout, stderr } = await run(['dead-letters', 'replay', '--organization', 'org_a'], { env });
    expect(stdout, stderr).to.equal('2 records sent again, 2 rejected again.\n');
    expect(stderr).to.contain('1 record left out: too large');
    expect((await list('--organization', 'org_a')).map(({ attempts }) => attempts)).to.deep.equal([2, 2, 1]);
  });

  it('are not replayed at all while corrections are of unknown ids, which are named', async () => {
    const [first] = await list('--organization', 'org_a');
    const corrected = join(folder.path, 'corrected.ndjson');
    const lines = [first, { id: 'rej_gone', value: '{"contact_id":"k5"}' }];
    await writeFile(corrected, lines.map((line) => JSON.stringify(line)).join('\n'));
    const { code, stderr } = await run(['dead-letters', 'replay', '--from', corrected], { env });
    expect(code, stderr).to.equal(1);
    expect(stderr).to.contain('No dead letter of HTTP ingest has the id rej_gone.');
    expect((await list('--organization', 'org_a')).map(({ id }) => id)).to.include(first?.id);
    const [other] = await list('--organization', 'org_b');
    await writeFile(corrected, JSON.stringify(other));
    const args = ['dead-letters', 'replay', '--organization', 'org_a', '--from', corrected];
    expect((await run(args, { env })).stderr).to.contain(other?.id);
  });

  it('are corrected in a file and accepted', async () => {
    const [first, second] = await list('--organization', 'org_a');
    const corrected = join(folder.path, 'corrected.ndjson');
    const lines = [
      { ...first, value: '{"contact_id":"k2","age":41}' },
      { ...second, value: '{"contact_id":"k4","organization_id":"org_b"}' },
    ];
    await writeFile(corrected, lines.map((line) => JSON.stringify(line)).join('\n'));
    const { stdout, stderr } = await run(['dead-letters', 'replay', '--from', corrected], { env });
    expect(stdout, stderr).to.equal('2 records sent again, 1 rejected again.\n');
    const left = await list('--organization', 'org_a');
    expect(left.map(({ code }) => code)).to.have.members(['organization_mismatch', 'line_too_long']);
    await writeFile(corrected, '{"value":1}');
    const wrong = await run(['dead-letters', 'replay', '--from', corrected], { env });
    expect(wrong.code).to.equal(1);
    expect(wrong.stderr).to.contain('Line 1 of');
  });

  it('keep the form of their source and the name of their mapping', async () => {
    const rows = 'Id,Years,Made\nm1,41,2026-01-02 03:04:05\nm2,old,2026-01-02T03:04:05Z\n';
    await post('org_m', '?map=crm', 'text/csv', rows);
    const { stdout, stderr } = await run(['dead-letters', 'replay', '--organization', 'org_m'], { env });
    expect(stdout, stderr).to.equal('2 records sent again, 2 rejected again.\n');
    const left = (await list('--organization', 'org_m')).map(({ value, ...letter }) => [
      letter.code,
      letter.attempts,
      letter.mapping,
      value,
    ]);
    expect(left).to.deep.equal([
      ['invalid_date_time', 2, 'crm', '{"Id":"m1","Years":"41","Made":"2026-01-02 03:04:05"}'],
      ['invalid_type', 2, 'crm', '{"Id":"m2","Years":"old","Made":"2026-01-02T03:04:05Z"}'],
    ]);
  });

  it('are replayed into the data folder when no server has it', async () => {
    await served.stop();
    const [letter] = await list('--organization', 'org_b');
    const corrected = join(folder.path, 'corrected.ndjson');
    await writeFile(corrected, JSON.stringify({ ...letter, value: '{"contact_id":"k3","age":20}' }));
    const dry = await run(['dead-letters', 'replay', '--from', corrected, '--dry-run'], { env });
    expect(dry.stdout).to.equal('1 record would be sent again.\n');
    const { stdout, stderr } = await run(['dead-letters', 'replay', '--from', corrected], { env });
    expect(stdout, stderr).to.equal('1 record sent again, 0 rejected again.\n');
    expect(await list('--organization', 'org_b')).to.deep.equal([]);
    const exported = await run(['export', 'contacts', '--organization', 'org_b'], { env });
    expect(exported.stdout).to.contain('"age":20');
  });

  it('are mapped again, so that mending the mapping is enough', async () => {
    await writeMapping({ timezone: 'UTC' });
    const args = ['dead-letters', 'replay', '--organization', 'org_m'];
    const { stdout, stderr } = await run(args, { env });
    expect(stdout, stderr).to.equal('2 records sent again, 1 rejected again.\n');
    await rm(join(folder.path, 'data', 'mappings'), { recursive: true });
    const gone = await run(args, { env });
    expect(gone.code).to.equal(1);
    expect(gone.stderr).to.contain('There is no mapping "crm" any more');
    expect(await list('--organization', 'org_m')).to.have.length(1);
  });
});
