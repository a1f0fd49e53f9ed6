import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import { openHttp } from '../../services/stores/clickhouse/http.js';
import { migrate as migrateClickHouse } from '../../services/stores/clickhouse/migrations/migrate.js';
import { readMigrations } from '../../services/stores/common/migrations.js';
import { run } from '../cli/support.js';
import { tempFolder } from '../support/temp-folder.js';
import { testDatabase } from './clickhouse/support.js';
import { testIndices } from './elasticsearch/support.js';
import { serverEnvironment } from './start-gateway.js';

const refusal = (data: string, destination: string) =>
  `${data} is from an unreleased version of Reachline: export its records with that version (reachline export), and load them with this one (reachline ingest) into ${destination}. See docs/operating/upgrade.md.`;

describe('Stores of an unreleased version on servers', () => {
  const indices = testIndices();
  const database = testDatabase();
  const env = (): Record<string, string> => ({
    PORT: '0',
    REACHLINE_DATA_DIR: join(tempFolder(), 'none'),
    ...serverEnvironment(indices.config, database.config),
  });

  const tables = async () => {
    const { database: views } = database.config;
    const found = await database.client.query({
      query: `SELECT database, name, total_rows FROM system.tables WHERE startsWith(database, '${views}') ORDER BY 1, 2`,
      format: 'JSON',
    });
    return (await found.json()).data;
  };
  const commands = [['serve'], ['migrate'], ['keys', 'create', '--organization', 'org_a']];

  it('are refused in ClickHouse in one sentence that says how to move them, and are left as they are', async () => {
    const clickhouse = openHttp(database.config);
    const fixture = join(packageRoot, 'test/data/unreleased/clickhouse');
    await migrateClickHouse(clickhouse, readMigrations(fixture));
    await clickhouse.close();
    const before = await tables();
    expect(before).to.have.length(2);
    const refused = refusal(
      `The ClickHouse database ${database.config.database}_tables`,
      'an empty database (CLICKHOUSE_DATABASE)',
    );
    for (const args of commands.slice(0, 2)) {
      const answer = await run(args, { env: env() });
      expect(answer, args.join(' ')).to.include({ code: 1, stderr: `${refused}\n` });
    }
    expect((await run(['doctor'], { env: env() })).stdout).to.contain(`✗ ${refused}\n`);
    expect(await tables()).to.deep.equal(before);
  });

  it('are refused in Elasticsearch likewise', async () => {
    const client = indices.client();
    const { indexPrefix } = indices.config;
    const all = { index: `${indexPrefix}-*` };
    const made = Object.keys(await client.indices.get(all));
    if (made.length > 0) await client.indices.delete({ index: made });
    const index = `${indexPrefix}-contacts-v16-1`;
    await client.indices.create({
      index,
      aliases: { [`${indexPrefix}-contacts`]: {} },
      mappings: { _meta: { version: 16, checksum: 'x', tables: '1' } },
    });
    const before = await client.indices.get(all);
    const refused = refusal(`The Elasticsearch index ${index}`, 'new indices (ELASTICSEARCH_INDEX_PREFIX)');
    for (const args of commands) {
      const answer = await run(args, { env: env() });
      expect(answer, args.join(' ')).to.include({ code: 1, stderr: `${refused}\n` });
    }
    expect((await run(['doctor'], { env: env() })).stdout).to.contain(`✗ ${refused}\n`);
    expect(await client.indices.get(all)).to.deep.equal(before);
  });
});
