import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from '../../../services/shared/sql.js';
import { SEARCH_FILE } from '../../../services/stores/data-folder/layout.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { openDatabase } from '../../../services/stores/sqlite/database.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, load, T0 } from '../../contract/record-store-support.js';
import { accepted } from '../../support/accepted.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('A data folder of older search rules', () => {
  const contacts = 4500;
  let dataDir: string;

  /** Replaces terms, words and normal forms by those of other rules. */
  function age(): void {
    const connection = new Connection(join(dataDir, SEARCH_FILE), { cacheMb: 2 });
    connection.run(sql`UPDATE derived SET version = -1, tables = 'other'`);
    connection.run(sql`UPDATE visits SET city = 'other', country = 'other'`);
    connection.run(sql`INSERT INTO contact_terms (contact_terms) VALUES ('delete-all')`);
    connection.run(sql`INSERT INTO contact_terms (rowid, first_name) VALUES (7, '1:stale')`);
    connection.run(sql`INSERT INTO audience_terms (audience_terms) VALUES ('delete-all')`);
    connection.run(sql`UPDATE audiences SET body = json_remove(body, '$.description')`);
    connection.run(sql`DELETE FROM vocabulary`);
    connection.run(sql`UPDATE contacts SET country = 'other', last_name = NULL, company_name = 'other'`);
    connection.close();
  }

  async function openCounting(): Promise<Record<string, number>> {
    const batches: Record<string, number> = {};
    const connection = await openDatabase(dataDir, 8, (what, done, total) => {
      batches[what] = (batches[what] ?? 0) + 1;
      expect(done).to.be.at.most(total);
    });
    connection.close();
    return batches;
  }

  async function expectAllFound(): Promise<void> {
    const store = await openSqliteStore({ dataDir, searchProcesses: 1 });
    const total = async (query: string) =>
      (await store.searchContacts(asked('org', { query, limit: 1 }))).total;
    expect(await total('ann')).to.equal(contacts);
    expect(await total('lastt77')).to.equal(0);
    expect(await total('Lasst -name')).to.equal(contacts);
    expect(await total('stale')).to.equal(0);
    const french = await store.searchContacts(asked('org', { country: 'FR', limit: 1 }));
    expect(french.total).to.equal(contacts);
    const officers = await store.searchContacts(asked('org', { department: 'finance', limit: 1 }));
    expect(officers.total).to.equal(contacts);
    expect(officers.items[0]).to.include('"seniority":"c_level","department":"finance"');
    for (const by of ['last_name', 'company_name'] as const) {
      const request = { sort: { by, direction: 'desc' }, limit: 1 } as const;
      const { next } = await store.searchContacts(asked('org', request));
      expect(next?.sorted).to.equal(by === 'last_name' ? 'lastt' : null);
    }
    const audiences = await store.searchAudiences({
      organizationId: 'org',
      limit: 1,
      query: asked('org', { query: 'senate' }).query,
    });
    expect(audiences.total).to.equal(1);
    expect(audiences.items[0]).to.include({ description: null });
    const visits = await store.searchVisits({ organizationId: 'org', city: 'lyon', country: 'fr', limit: 1 });
    expect(visits.total).to.equal(1);
    const counted = await store.searchVisits({
      organizationId: 'org',
      country: 'fr',
      limit: 1,
      facets: ['day'],
    });
    expect(counted.total).to.equal(1);
    expect(counted.facets?.day).to.deep.equal([{ value: new Date(T0).toISOString().slice(0, 10), count: 1 }]);
    await store.close();
  }

  before(async () => {
    dataDir = tempFolder();
    const store = await openSqliteStore({ dataDir, searchProcesses: 1 });
    await load(
      store,
      'org',
      Array.from({ length: contacts }, () => ({
        first_name: 'Ann',
        last_name: 'Lastt',
        country: 'France',
        job_title: 'CFO',
      })),
    );
    await store.upsertAudiences(accepted([{ organization_id: 'org', id: 'aud', name: 'Senate' }], T0));
    const visit = { organizationId: 'org', id: 'v', createdAt: new Date(T0).toISOString() };
    await store.insertVisits(accepted([{ ...visit, city: 'Lyon', country: 'France' }], T0));
    await store.close();
  });

  it('is rebuilt when it is opened, once', async () => {
    age();
    expect(await openCounting()).to.deep.equal({ contacts: 3, audiences: 1, visits: 1 });
    expect(await openCounting()).to.deep.equal({});
    await expectAllFound();
  });

  it('is rebuilt where only the tables of titles differ: the contacts alone', async () => {
    const connection = new Connection(join(dataDir, SEARCH_FILE), { cacheMb: 2 });
    connection.run(sql`UPDATE derived SET tables = 'other' WHERE name = 'contacts'`);
    connection.run(
      sql`UPDATE contacts SET body = replace(body, '"seniority":"c_level"', '"seniority":"vp"')`,
    );
    connection.run(sql`INSERT INTO contact_terms (contact_terms) VALUES ('delete-all')`);
    connection.close();
    expect(await openCounting()).to.deep.equal({ contacts: 3 });
    await expectAllFound();
  });

  it('goes on where an interrupted rebuild ended', async () => {
    age();
    const interrupted = openDatabase(dataDir, 8, (_, done) => {
      if (done > 2000) throw new Error('interrupted');
    });
    expect(await interrupted.catch((error: Error) => error.message)).to.equal('interrupted');
    expect(await openCounting()).to.deep.equal({ contacts: 1, audiences: 1, visits: 1 });
    await expectAllFound();
  });

  it('is rebuilt by several processes that open it at once', async () => {
    age();
    const connections = await Promise.all([openDatabase(dataDir, 8), openDatabase(dataDir, 8)]);
    for (const connection of connections) connection.close();
    await expectAllFound();
  });
});
