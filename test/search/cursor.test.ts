import { expect } from 'chai';
import fc from 'fast-check';
import { type CursorScope, readCursor, writeCursor } from '../../services/search/cursor.js';

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

const encode = (of: CursorScope, rank: number) => writeCursor(of, { rank, createdAt: 1, id: 'c' }) as string;

describe('Cursors', () => {
  it('decode to the sort key they encode', () => {
    fc.assert(
      fc.property(position, (at) => {
        expect(readCursor(scope, writeCursor(scope, at) as string, true)).to.deep.equal(at);
      }),
    );
  });

  it('are valid for any order of the filters and any page size', () => {
    const cursor = encode({ ...scope, filters: { city: 'Oslo', country: 'NO' } }, 0);
    expect(readCursor({ ...scope, filters: { country: 'NO', city: 'Oslo' } }, cursor, false)).to.include({
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
      expect(readCursor(other, cursor, false)).to.include({ code: 'cursor_mismatch' });
    }
  });

  it('with a rank are rejected by unranked searches', () => {
    for (const rank of [-1, 5, 2 ** 63]) {
      const cursor = encode(scope, rank);
      expect(readCursor(scope, cursor, false)).to.include({ code: 'invalid_cursor' });
      expect(readCursor(scope, cursor, true)).to.include({ rank });
    }
  });

  it('that the service did not issue are rejected', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        expect(readCursor(scope, text, true)).to.include({ code: 'invalid_cursor' });
      }),
    );
  });
});
