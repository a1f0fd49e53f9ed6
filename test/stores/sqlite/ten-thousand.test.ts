/**
 * Lists of an organization with ten thousand of everything. The cost of a page of one is counted: the rows that statements return,
 * and how the engine finds them. A search process computes the page; the event loop gets its text in one message.
 */
import { expect } from 'chai';
import { type Sql, sql } from '../../../services/shared/sql.js';
import { searchAudiences } from '../../../services/stores/sqlite/audiences.js';
import type { Connection, SqlValue } from '../../../services/stores/sqlite/connection.js';
import { searchContacts } from '../../../services/stores/sqlite/contacts/search.js';
import { readFigures } from '../../../services/stores/sqlite/counts.js';
import { openDatabase } from '../../../services/stores/sqlite/database.js';
import { listErasures } from '../../../services/stores/sqlite/erasure/proofs.js';
import { countDescendants, insertKey, listKeys } from '../../../services/stores/sqlite/keys.js';
import { keepRejections, listRejections } from '../../../services/stores/sqlite/rejections.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { searchVisits } from '../../../services/stores/sqlite/visits.js';
import {
  iso,
  keyAt,
  middle,
  numbers,
  ORGANIZATION,
  rejectionAt,
  search,
} from '../../contract/large-organization.js';
import { T0 } from '../../contract/record-store-support.js';
import { accepted } from '../../support/accepted.js';
import { tempFolder } from '../../support/temp-folder.js';

/** Each returns the text that the event loop receives. */
const LISTS: Record<string, (connection: Connection) => unknown> = {
  keys: (connection) => listKeys(connection, { ...search, now: T0 }),
  'keys, from the middle': (connection) => listKeys(connection, { ...search, now: T0, after: middle }),
  'keys of all organizations': (connection) => listKeys(connection, { limit: 1, now: T0, after: middle }),
  rejections: (connection) => listRejections(connection, search),
  'rejections, from the middle': (connection) => listRejections(connection, { ...search, after: middle }),
  'rejections of a stream': (connection) =>
    listRejections(connection, { ...search, stream: 'audiences', after: middle }),
  'rejections of all organizations': (connection) => listRejections(connection, { limit: 1, after: middle }),
  erasures: (connection) => listErasures(connection, search),
  'erasures, from the middle': (connection) => listErasures(connection, { ...search, after: middle }),
  audiences: (connection) => searchAudiences(connection, search),
  'audiences, from the middle': (connection) => searchAudiences(connection, { ...search, after: middle }),
  contacts: (connection) => searchContacts(connection, { ...search, filters: [] }),
  'members of an audience': (connection) =>
    searchContacts(connection, { ...search, filters: [], audienceId: 'aud0' }),
  visits: (connection) => searchVisits(connection, search),
  'visits, from the middle': (connection) => searchVisits(connection, { ...search, after: middle }),
  'figures of the status': (connection) => readFigures(connection, ORGANIZATION),
  'keys that descend from a key': (connection) => countDescendants(connection, 'key0', T0),
};

/** Statements that count: they read entries of an index, and never rows of a table. */
const isCount = (statement: Sql) => /count\(\*\)/.test(statement.text);

describe('SQLite with ten thousand of everything', function () {
  this.timeout(120_000);
  let connection: Connection;
  let dataDir: string;

  before(async () => {
    dataDir = tempFolder();
    const store = await openSqliteStore({ dataDir, searchProcesses: 1 });
    const audiences = numbers.map((index) => ({
      organization_id: ORGANIZATION,
      id: `aud${index}`,
      name: `Audience ${index}`,
    }));
    await store.upsertAudiences(accepted(audiences, T0));
    const contacts = numbers.map((index) => ({
      organization_id: ORGANIZATION,
      contact_id: `c${index}`,
      work_emails: [],
      personal_emails: [],
      audience_ids: ['aud0'],
    }));
    await store.upsertContacts(accepted(contacts, T0));
    const visits = numbers.map((index) => ({
      organizationId: ORGANIZATION,
      id: `v${index}`,
      createdAt: iso(index),
    }));
    await store.insertVisits(accepted(visits, T0));
    await store.close();
    connection = await openDatabase(dataDir, 16);
    connection.writeTransaction(() => {
      for (const index of numbers) {
        insertKey(connection, keyAt(index));
        const proof = JSON.stringify({ proof_id: `era${index}`, requested_at: iso(index) });
        connection.run(
          sql`INSERT INTO erasures (id, organization_id, proof) VALUES (?, ?, ?)`,
          `era${index}`,
          ORGANIZATION,
          proof,
        );
      }
      keepRejections(connection, ORGANIZATION, numbers.map(rejectionAt), T0);
    });
  });
  after(() => connection.close());

  for (const [title, list] of Object.entries(LISTS)) {
    it(`finds ${title} in an index, and returns few rows for a page of one`, () => {
      let returned = 0;
      const plans: string[] = [];
      const deferred: string[] = [];
      const ask = (statement: Sql, values: SqlValue[]) => {
        const steps = connection.rows<SqlValue[]>(sql`EXPLAIN QUERY PLAN ${statement}`, ...values);
        for (const step of steps) plans.push(`${isCount(statement) ? 'count: ' : ''}${String(step[3])}`);
        // The row of an entry is read only when a column is needed that the index lacks, which happens only for keys of past runs.
        const code = isCount(statement)
          ? connection.rows<SqlValue[]>(sql`EXPLAIN ${statement}`, ...values)
          : [];
        if (code.some((step) => step[1] === 'DeferredSeek')) deferred.push(statement.text);
      };
      const counted = <Row>(rows: Row[]): Row[] => {
        returned += rows.length;
        return rows;
      };
      const counting = {
        readTransaction: <T>(work: () => T) => work(),
        row(statement: Sql, ...values: SqlValue[]) {
          ask(statement, values);
          return counted([connection.row(statement, ...values)])[0];
        },
        number(statement: Sql, ...values: SqlValue[]) {
          ask(statement, values);
          return counted([connection.number(statement, ...values)])[0];
        },
        rows(statement: Sql, ...values: SqlValue[]) {
          ask(statement, values);
          return counted(connection.rows(statement, ...values));
        },
        *each(statement: Sql, ...values: SqlValue[]) {
          ask(statement, values);
          for (const row of connection.each(statement, ...values)) yield counted([row])[0];
        },
      } as unknown as Connection;
      const answer = JSON.stringify(list(counting));
      expect(returned, plans.join('\n')).to.be.within(1, 12);
      expect(answer.length).to.be.below(4096);
      for (const plan of plans) {
        // Searches of contacts and audiences sort the few rows of a bucket of positions.
        if (!/contacts|audiences/.test(plans.join()))
          expect(plan, plans.join('\n')).not.to.match(/TEMP B-TREE/);
        // Scans read a JSON array, the descendants found so far, or an index if all organizations are listed.
        if (!/all organizations/.test(title))
          expect(plan, plans.join('\n')).not.to.match(/SCAN (?!descendants|\w+ VIRTUAL|CONSTANT)/);
        if (/^count: SEARCH (keys|rejections|erasures) USING INDEX/.test(plan))
          expect(deferred, plans.join('\n')).to.not.be.empty;
      }
    });
  }
});
