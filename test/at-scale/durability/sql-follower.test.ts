import { expect } from 'chai';
import { issueKey } from '../../../services/accounts/keys.js';
import { drawWrite } from '../../durability/drawn-writes.js';
import { COLUMNS, type CopiedContact, searchedContacts } from '../../durability/sql-contacts.js';
import { Random, runs, SEED } from '../../support/random.js';
import { type ServerProcess, startServer } from '../../support/server-process.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { testDatabase } from '../clickhouse/support.js';
import { openStore, testIndices } from '../elasticsearch/support.js';
import { serverEnvironment } from '../start-gateway.js';

const ORGANIZATION = 'org_sql';
const ROUNDS = runs(4);
const WRITERS = 4;
/** Longer than the lease of a killed follower. */
const FOLLOWED = { pollMs: 250, timeoutMs: 60_000 };

describe(`The copy for SQL on servers (seed ${SEED})`, function () {
  this.timeout(ROUNDS * 90_000);

  it('has what a search finds after each kill -9 of one of two gateways, whichever of them follows', async () => {
    const random = new Random(SEED);
    const indices = testIndices();
    const database = testDatabase();
    const store = await openStore(indices.config);
    const key = await issueKey(store, { organizationId: ORGANIZATION, scopes: ['*'] });
    const environment = serverEnvironment(indices.config, database.config);
    const start = () => startServer({ dataDir: tempFolder(), key, environment });
    const servers = [await start(), await start()] as [ServerProcess, ServerProcess];
    const inSql = async () => {
      const result = await database.client.query({
        query: `SELECT ${COLUMNS.join()} FROM ${database.config.database}.contacts WHERE organization_id = '${ORGANIZATION}' ORDER BY contact_id`,
        format: 'JSONEachRow',
      });
      return result.json<CopiedContact>();
    };
    try {
      await servers[0].ingest('audiences', [{ id: 'aud', name: 'Aud' }]);
      for (let round = 0; round < ROUNDS; round++) {
        const victim = round % 2;
        const killAfter = random.between(20, 60);
        let answers = 0;
        let isKilled = false;
        await Promise.allSettled(
          Array.from({ length: WRITERS }, async (_, writer) => {
            while (!isKilled) {
              await drawWrite(servers[writer % 2] as ServerProcess, ORGANIZATION, random);
              if (++answers !== killAfter) continue;
              isKilled = true;
              await servers[victim]?.kill();
            }
          }),
        );
        const other = servers[1 - victim] as ServerProcess;
        const isSame = async () => {
          const expected = await searchedContacts(other, ORGANIZATION);
          return JSON.stringify(await inSql()) === JSON.stringify(expected);
        };
        await until(isSame, `SQL shows round ${round}`, FOLLOWED).catch(async () => {
          expect(await inSql(), `round ${round}`).to.deep.equal(await searchedContacts(other, ORGANIZATION));
        });
        servers[victim] = await start();
      }
    } finally {
      await Promise.all(servers.map((each) => each.kill()));
    }
  });
});
