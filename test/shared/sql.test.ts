import { expect } from 'chai';
import {
  checkedIdentifier,
  EMPTY_SQL,
  identifier,
  joinSql,
  sql,
  textLiteral,
} from '../../services/shared/sql.js';

describe('SQL is composed of fragments alone', () => {
  it('fills holes with fragments and numbers, negative ones in brackets', () => {
    const table = identifier('contacts');
    expect(sql`SELECT 1 -${-1} FROM ${table} LIMIT ${5n}`.text).to.equal(
      'SELECT 1 -(-1) FROM contacts LIMIT 5',
    );
    expect(joinSql([sql`a`, EMPTY_SQL, sql`b`], ' AND ').text).to.equal('a AND b');
  });

  it('throws for a text in a hole, and for a call that is no template', () => {
    const evade = (hole: unknown) => sql`SELECT ${hole as number}`;
    for (const hole of ['1; DROP TABLE contacts', Number.NaN, Number.POSITIVE_INFINITY, null, {}, ['1']])
      expect(() => evade(hole)).to.throw(TypeError);
    const forged = Object.assign(['DROP TABLE contacts'], { raw: ['DROP TABLE contacts'] });
    expect(() => sql(forged as unknown as TemplateStringsArray)).to.throw(TypeError);
  });

  it('does not compile with a text of unknown origin', () => {
    const text: string = 'contacts';
    // @ts-expect-error A string in a hole.
    expect(() => sql`SELECT * FROM ${text}`).to.throw(TypeError);
    // @ts-expect-error A name that is not in the code.
    identifier(text);
  });

  it('keeps names to letters, digits and underscores', () => {
    for (const name of [
      '',
      'a b',
      'a`',
      "a'",
      'a;b',
      'a=1',
      'a,b',
      'a\n',
      '1a',
      'a.b',
      'ä',
      'a\0',
      'a'.repeat(129),
    ])
      expect(() => checkedIdentifier(name), JSON.stringify(name)).to.throw(RangeError);
    expect(checkedIdentifier('_a1').text).to.equal('_a1');
  });

  it('doubles quotes and backslashes of texts', () => {
    expect(textLiteral(`a'b\\'; DROP`).text).to.equal(`'a''b\\\\''; DROP'`);
  });

  it('makes a fragment without holes once', () => {
    const make = () => sql`SELECT 1`;
    expect(make()).to.equal(make());
  });
});
