import { join } from 'node:path';
import { expect } from 'chai';
import { joinSql, sql } from '../../../services/shared/sql.js';
import { SqliteFile } from '../../../services/stores/common/sqlite-file.js';
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

  it('stay prepared while they are used, and are forgotten among many others', () => {
    const { prepare } = SqliteFile.prototype;
    const prepared: string[] = [];
    SqliteFile.prototype.prepare = function (statement) {
      prepared.push(statement.text);
      return prepare.call(this, statement);
    };
    try {
      const [used, unused] = [sql`SELECT 'used'`, sql`SELECT 'unused'`];
      connection.row(unused);
      for (let other = 0; other < 1000; other++) {
        connection.row(used);
        connection.row(sql`SELECT ${joinSql([sql`1`, sql`${other}`], ', ')}`);
      }
      connection.row(unused);
      const times = (text: string) => prepared.filter((each) => each === text).length;
      expect([times(used.text), times(unused.text)]).to.deep.equal([1, 2]);
    } finally {
      SqliteFile.prototype.prepare = prepare;
    }
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
