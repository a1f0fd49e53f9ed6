import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from '../../../services/shared/sql.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import {
  allOf,
  andNot,
  anyOf,
  exactTerm,
  type FtsQuery,
  inColumns,
  prefixTerm,
} from '../../../services/stores/sqlite/text/fts-query.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('Statements of the SQLite store', () => {
  let connection: Connection;
  before(() => {
    connection = new Connection(join(tempFolder(), 'x.db'), { cacheMb: 2 });
    connection.exec(
      sql`CREATE VIRTUAL TABLE texts USING fts5 (a, b, tokenize = "unicode61 tokenchars '""*():^{}'")`,
    );
    connection.run(sql`INSERT INTO texts (a, b) VALUES (?, ?)`, 'one', 'two');
  });
  after(() => connection.close());

  it('are no plain strings', () => {
    const text = `SELECT 1`;
    // @ts-expect-error
    expect(() => connection.row(text)).to.throw();
    // @ts-expect-error
    expect(() => connection.exec(text)).to.throw();
    // @ts-expect-error
    expect(() => connection.row(sql`SELECT ${text}`)).to.throw();
  });

  it('match words alone, whatever signs the words have', () => {
    const words = [
      '"',
      '" OR a : "one',
      'one" OR "two',
      'one*',
      '^one',
      '{a b} : one',
      'NEAR(one two)',
      '""one',
    ];
    const count = (query: FtsQuery) =>
      connection.number(sql`SELECT count(*) FROM texts WHERE texts MATCH ?`, query.text);
    for (const word of words) {
      expect(count(exactTerm(word)), word).to.equal(0);
      expect(count(prefixTerm(word)), word).to.equal(0);
      expect(count(allOf([exactTerm('one'), exactTerm(word)])), word).to.equal(0);
      expect(count(andNot(anyOf([exactTerm('one'), exactTerm(word)]), [exactTerm(word)])), word).to.equal(1);
      expect(() => count(inColumns([word], exactTerm('one'))), word).to.throw('no such column');
    }
    expect(count(inColumns(['a'], exactTerm('one')))).to.equal(1);
    expect(count(inColumns(['b'], exactTerm('one')))).to.equal(0);
  });
});
