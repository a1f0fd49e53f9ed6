import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { run } from '../cli/support.js';
import { freePort } from '../stack/free-port.js';
import { tempFolder } from '../support/temp-folder.js';
import { testDatabase } from './clickhouse/support.js';
import { testIndices } from './elasticsearch/support.js';
import { serverEnvironment } from './start-gateway.js';

describe('The doctor, where both stores are on servers', () => {
  const indices = testIndices();
  const database = testDatabase();
  let env: Record<string, string>;

  before(async () => {
    // No store needs the folder, so it may be any path.
    const file = join(tempFolder(), 'a-file');
    await writeFile(file, '');
    env = {
      PORT: '0',
      REACHLINE_DATA_DIR: file,
      ...serverEnvironment(indices.config, database.config),
    };
  });

  it('reports their versions and what serve will create, and creates nothing', async () => {
    const client = indices.client();
    // This index belongs to another installation and lacks a copy.
    const index = `${indices.config.indexPrefix.replace('-', '')}x-other`;
    await client.indices.create({ index, settings: { number_of_replicas: 5 } });
    const { code, stdout } = await run(['doctor'], { env });
    expect({ code, stdout }).to.include({ code: 0 });
    expect(stdout).to.match(/✓ Elasticsearch \d+\.\S+ answers, one node, health (?:green|yellow)/);
    expect(stdout).to.match(/✓ serve creates the missing indices: contacts, /);
    expect(stdout).to.match(/✓ ClickHouse \d+\.\S+ answers/);
    expect(stdout).to.match(/✓ serve updates the tables: \d+ migrations from 0001_/);
    expect(await client.indices.get({ index: `${indices.config.indexPrefix}-*` })).to.deep.equal({});
    const made = await database.client.query({
      query: `SELECT name FROM system.databases WHERE startsWith(name, '${database.config.database}')`,
      format: 'JSON',
    });
    expect((await made.json()).data).to.deep.equal([]);
    await client.indices.delete({ index });
  });

  it('finds nothing wrong once they are migrated', async () => {
    expect(await run(['migrate'], { env })).to.include({ code: 0 });
    const { code, stdout } = await run(['doctor'], { env });
    expect({ code, stdout }).to.include({ code: 0 });
    expect(stdout).to.match(/✓ The indices \S+-\* are up to date\n/);
    expect(stdout).to.match(/✓ The tables in test_\w+ are up to date\n/);
    expect(stdout).to.contain('All is well.');
  });

  it('says which index has other shards than the settings, and what to run', async () => {
    const layout = { ELASTICSEARCH_SHARDS: '6', ELASTICSEARCH_SHARDS_PER_ORGANIZATION: '3' };
    const { code, stdout } = await run(['doctor'], { env: { ...env, ...layout } });
    expect(code).to.equal(0);
    expect(stdout).to.match(
      /! \S+-contacts-v\d+-1 has 3 shards, 1 per organization; .* 6 and 3\. Run: reachline migrate --rebuild contacts\n/,
    );
  });

  it('names an index of another version, and what to run', async () => {
    const index = `${indices.config.indexPrefix}-keys`;
    await indices.client().indices.putMapping({ index, _meta: { definition_version: 0, checksum: '' } });
    const { code, stdout } = await run(['doctor'], { env });
    expect(code).to.equal(1);
    expect(stdout).to.match(/✗ Older than this version: \S+-keys-v1-1\. Run: reachline migrate\n/);
  });

  it('names a server that is away or rejects the password, and still looks at the other', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const search = await run(['doctor'], { env: { ...env, ELASTICSEARCH_URL: nobody } });
    expect(search.code).to.equal(1);
    expect(search.stdout).to.match(/✗ The records store does not answer.*check that it runs/);
    expect(search.stdout).to.match(/✓ ClickHouse \d/);
    for (const [name, wrong] of [
      ['CLICKHOUSE_URL', nobody],
      ['CLICKHOUSE_PASSWORD', 'wrong'],
    ] as const) {
      const analytics = await run(['doctor'], { env: { ...env, [name]: wrong } });
      expect(analytics.code).to.equal(1);
      expect(analytics.stdout).to.match(/✗ The analytics store does not answer.*user name and password/);
      expect(analytics.stdout).to.match(/✓ Elasticsearch \d/);
    }
  });
});
