import { expect } from 'chai';
import { type Sql, sql } from '../../../services/shared/sql.js';
import type { Connection, SqlValue } from '../../../services/stores/sqlite/connection.js';
import { openDatabase } from '../../../services/stores/sqlite/database.js';
import { exactTerm, OrganizationTerms } from '../../../services/stores/sqlite/text/fts-query.js';
import {
  countRows,
  newestRows,
  type RowSource,
  sortedRows,
} from '../../../services/stores/sqlite/text/ordered-rows.js';
import { tempFolder } from '../../support/temp-folder.js';

const matching: RowSource = {
  rows: 'contacts',
  organization: 1,
  match: { index: 'contact_terms', query: exactTerm(new OrganizationTerms(1).matchAllTerm) },
};
const changed: RowSource = { ...matching, updatedAfter: 5 };
const end = { rank: 0, createdAt: 0, id: 'c', sorted: 'smith' };
const byName = { by: 'last_name', direction: 'asc' } as const;

const SEARCHES: Record<string, (connection: Connection) => unknown> = {
  'counts those that changed after a time': (connection) => countRows(connection, changed),
  'reads the newest of those that changed after a time': (connection) => newestRows(connection, changed, 25),
  'sorts those that changed after a time': (connection) => sortedRows(connection, changed, byName, 25),
  'sorts a later page': (connection) => sortedRows(connection, matching, byName, 25, end),
};

describe('A search of the text index in SQLite', () => {
  let connection: Connection;
  before(async () => {
    connection = await openDatabase(tempFolder(), 16);
  });
  after(() => connection.close());

  for (const [title, search] of Object.entries(SEARCHES)) {
    it(`${title} by one row per match`, () => {
      const plans: string[] = [];
      const explain = (statement: Sql, ...values: SqlValue[]) => {
        const steps = connection.rows<SqlValue[]>(sql`EXPLAIN QUERY PLAN ${statement}`, ...values);
        plans.push(...steps.map((step) => String(step[3])));
        return [];
      };
      search({ row: explain, rows: explain } as unknown as Connection);
      const reads = plans.filter((step) => step.startsWith('SEARCH p USING'));
      expect(reads).to.not.be.empty;
      for (const read of reads)
        expect(read).to.include('contacts_by_position (organization=? AND position=?');
    });
  }
});
