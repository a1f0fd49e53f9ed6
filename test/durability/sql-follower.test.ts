import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Random, runs, SEED } from '../support/random.js';
import { prepareOrganization, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { drawWrite } from './drawn-writes.js';
import { COLUMNS, type CopiedContact, searchedContacts } from './sql-contacts.js';

const ORGANIZATION = 'org_sql';
const ROUNDS = runs(4);
const WRITERS = 4;
const FOLLOWED = { timeoutMs: 60_000 };

describe(`The copy for SQL in a data folder (seed ${SEED})`, function () {
  this.timeout(ROUNDS * 60_000);

  it('has what a search finds after each kill -9 of the server, also of one that has just started', async () => {
    const random = new Random(SEED);
    const dataDir = tempFolder();
    const key = await prepareOrganization(dataDir, ORGANIZATION);
    const start = () => startServer({ dataDir, key });
    let server = await start();
    const inSql = async () => {
      const statement = `SELECT ${COLUMNS.join()} FROM contacts ORDER BY contact_id`;
      const { status, body, text } = await server.call('/api/sql', { statement });
      expect(status, text).to.equal(200);
      return (body.rows as unknown[][]).map((row) =>
        Object.fromEntries(row.map((value, at) => [COLUMNS[at], value])),
      ) as unknown as CopiedContact[];
    };
    let kills = 0;
    try {
      await server.ingest('audiences', [{ id: 'aud', name: 'Aud' }]);
      for (let round = 0; round < ROUNDS; round++) {
        const killAfter = random.between(20, 120);
        let answers = 0;
        let isKilled = false;
        await Promise.allSettled(
          Array.from({ length: WRITERS }, async () => {
            while (!isKilled) {
              await drawWrite(server, ORGANIZATION, random);
              if (++answers !== killAfter) continue;
              isKilled = true;
              await server.kill();
            }
          }),
        );
        kills++;
        // The follower continues, or copies anew, right after a start.
        for (let restart = 0; restart < 2; restart++) {
          server = await start();
          await pause(random.between(0, 1500));
          await server.kill();
          kills++;
        }
        server = await start();
        const expected = await searchedContacts(server, ORGANIZATION);
        const shown = async () => JSON.stringify(await inSql()) === JSON.stringify(expected);
        await until(shown, `SQL shows round ${round}`, FOLLOWED).catch(async () => {
          expect(await inSql(), `round ${round}`).to.deep.equal(expected);
        });
      }
      expect(kills).to.equal(3 * ROUNDS);
    } finally {
      await server.kill();
    }
  });
});
