import { expect } from 'chai';
import fc from 'fast-check';
import { type CursorScope, readCursor, writeCursor } from '../../services/search/cursor.js';
import type { PartialMatch, SortKey, TextQuery } from '../../services/search/query.js';
import { parseQuery } from '../../services/search/query-parser.js';

const scope: CursorScope = {
  operation: '/api/contacts/search',
  organizationId: 'org_a',
  filters: { city: 'Oslo' },
};
const position = fc.record({
  rank: fc.nat(11),
  createdAt: fc.integer({ min: -1e13, max: 1e13 }),
  id: fc.string({ minLength: 1, maxLength: 128 }),
});

const TIMES_OF_NOBODY = [8.64e15, -8.64e15, 2 ** 53 - 1, 253_402_400_000_000, 0.5];

const RANKED = parseQuery('three of them') as TextQuery;

const encode = (of: CursorScope, rank: number) => writeCursor(of, { rank, createdAt: 1, id: 'c' }) as string;

describe('Cursors', () => {
  it('decode to the sort key they encode', () => {
    fc.assert(
      fc.property(position, (at) => {
        expect(readCursor(scope, writeCursor(scope, at) as string, RANKED)).to.deep.equal(at);
      }),
    );
  });

  it('are valid for any order of the filters and any page size', () => {
    const cursor = encode({ ...scope, filters: { city: 'Oslo', country: 'NO' } }, 0);
    expect(readCursor({ ...scope, filters: { country: 'NO', city: 'Oslo' } }, cursor)).to.include({
      id: 'c',
    });
  });

  it('of another filter, operation or organization are rejected', () => {
    const cursor = encode(scope, 0);
    for (const other of [
      { ...scope, filters: {} },
      { ...scope, filters: { city: 'Bergen' } },
      { ...scope, operation: '/api/audiences/contacts/search' },
      { ...scope, organizationId: 'org_b' },
    ]) {
      expect(readCursor(other, cursor)).to.include({ code: 'cursor_mismatch' });
    }
  });

  it('of another order, and of a query, are told from those that nobody gave out', () => {
    const byName = { ...scope, filters: { sort_by: 'last_name' } };
    const sorted = writeCursor(byName, { rank: 0, createdAt: 0, id: 'c', sorted: 'lee' }) as string;
    const byChange = { ...scope, filters: { sort_by: 'updated_at' } };
    for (const [of, cursor] of [
      [byName, encode(scope, 0)],
      [byChange, sorted],
      [scope, sorted],
      [scope, encode({ ...scope, filters: { query: 'three of them' } }, 7)],
    ] as const) {
      expect(readCursor(of, cursor)).to.include({ code: 'cursor_mismatch' });
    }
    expect(readCursor(byName, sorted)).to.include({ sorted: 'lee' });
    expect(readCursor(byName, encode(byName, 0))).to.include({ code: 'invalid_cursor' });
  });

  it('with a rank are rejected by unranked searches', () => {
    for (const rank of [1, 5]) {
      const cursor = encode(scope, rank);
      expect(readCursor(scope, cursor)).to.include({ code: 'invalid_cursor' });
      expect(readCursor(scope, cursor, RANKED)).to.include({ rank });
    }
  });

  it('with a field that no page can end at are rejected', () => {
    const at = { rank: 1, createdAt: 1, id: 'c' };
    const byUpdate = { ...scope, filters: { sort_by: 'updated_at' } };
    const forged: [CursorScope, SortKey][] = [
      ...[-1, 0.5, 100, 2 ** 53, 2 ** 63].map((rank): [CursorScope, SortKey] => [scope, { ...at, rank }]),
      ...TIMES_OF_NOBODY.map((createdAt): [CursorScope, SortKey] => [scope, { ...at, createdAt }]),
      ...TIMES_OF_NOBODY.map((sorted): [CursorScope, SortKey] => [byUpdate, { ...at, rank: 0, sorted }]),
      [scope, { ...at, id: '\ud800' }],
    ];
    for (const [of, sortKey] of forged) {
      const cursor = writeCursor(of, sortKey) as string;
      expect(readCursor(of, cursor, RANKED), JSON.stringify(sortKey)).to.include({ code: 'invalid_cursor' });
    }
  });

  it('are rejected unless they are the very text that was given out', () => {
    const cursor = encode(scope, 1);
    const text = Buffer.from(cursor, 'base64url').toString();
    const variants = [
      text.replace(',1,1,', ',1,1.0,'),
      text.replace(',1,1,', ',1,-0,'),
      text.replace(']', ',{}]'),
      text.replace(']', ',null]'),
      text.replace(']', ',{"other":1}]'),
      text.replace(']', ', {"partial":{"weights":[17,17,0],"weight":34}}]'),
      ` ${text}`,
    ].map((changed) => Buffer.from(changed).toString('base64url'));
    expect(readCursor(scope, cursor, RANKED)).to.include({ id: 'c' });
    for (const variant of [...variants, `${cursor}=`, `${cursor}!`])
      expect(readCursor(scope, variant, RANKED), variant).to.include({ code: 'invalid_cursor' });
  });

  it('of a partial answer hold the weight of each word, and that of the words that match', () => {
    const at = (partial: unknown) =>
      writeCursor(scope, { rank: 1, createdAt: 1, id: 'c', partial: partial as PartialMatch }) as string;
    const partial = { matched: 2, weight: 50, weights: [17, 33, 0] };
    expect(readCursor(scope, at(partial), RANKED)).to.deep.include({ partial });
    expect(readCursor(scope, at(partial))).to.include({ code: 'invalid_cursor' });
    for (const forged of [
      { ...partial, weight: 51 },
      { ...partial, weight: 0 },
      { ...partial, weight: 48 },
      { ...partial, weight: -14 },
      { ...partial, weight: 1.5 },
      { ...partial, weights: [17, 33] },
      { ...partial, weights: [17, 33, 0, 0] },
      { ...partial, weights: [17, 32, 1] },
      { ...partial, weights: [17, 33, -15] },
      { ...partial, weights: [17, 33, 2 ** 40 + 1] },
      { weight: 50 },
      1,
    ]) {
      expect(readCursor(scope, at(forged), RANKED)).to.include({ code: 'invalid_cursor' });
    }
  });

  it('that the service did not issue are rejected', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        expect(readCursor(scope, text, RANKED)).to.include({ code: 'invalid_cursor' });
      }),
    );
  });
});
