import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from '../../../services/shared/sql.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { migrate } from '../../../services/stores/sqlite/migrations/migrate.js';
import { insertVisits } from '../../../services/stores/sqlite/visits.js';
import { WriteSession } from '../../../services/stores/sqlite/writes/write-session.js';
import { accepted } from '../../support/accepted.js';
import { tempFolder } from '../../support/temp-folder.js';

const NOW = Date.UTC(2026, 0, 2);

/** Counts the statements that look up one row. */
class CountingConnection extends Connection {
  lookUps = 0;
  override row<Row extends readonly unknown[]>(...args: Parameters<Connection['row']>): Row | undefined {
    this.lookUps++;
    return super.row<Row>(...args);
  }
}

describe('Visits in SQLite', () => {
  it('are looked up only where a visit of the same id and time is stored', () => {
    const connection = new CountingConnection(join(tempFolder(), 'x.db'), { cacheMb: 2 });
    migrate(connection);
    const session = new WriteSession(connection);
    const insert = (city: string, acceptedAt: number) => {
      const visits = Array.from({ length: 100 }, (_, index) => ({
        organizationId: 'org_a',
        id: `v${index}`,
        createdAt: '2026-01-01T00:00:00.000Z',
        startUrl: 'https://a.example/',
        city,
      }));
      const before = connection.lookUps;
      session.transaction(() => insertVisits(session, accepted(visits, acceptedAt) as never, () => false));
      return connection.lookUps - before;
    };
    expect(insert('berlin', NOW)).to.be.below(10);
    expect(insert('paris', NOW + 1)).to.be.within(100, 110);
    const cities = connection.rows(sql`SELECT DISTINCT city FROM visits`);
    expect(cities).to.have.length(1);
    expect(connection.number(sql`SELECT visits FROM organizations`)).to.equal(100);
    connection.close();
  });
});
