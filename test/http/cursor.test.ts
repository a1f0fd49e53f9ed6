import { expect } from 'chai';
import fc from 'fast-check';
import { readCursor, writeCursor } from '../../services/http/cursor.js';
import { Problem } from '../../services/http/problems.js';

const scope = { operation: '/api/contacts/search', organizationId: 'org_a', filters: { city: 'Oslo' } };
const position = fc.record({
  rank: fc.nat(11),
  createdAt: fc.integer({ min: -1e13, max: 1e13 }),
  id: fc.string({ minLength: 1, maxLength: 128 }),
});

describe('Cursors', () => {
  it('decode to the sort key they encode', () => {
    fc.assert(
      fc.property(position, (at) => {
        expect(readCursor(scope, writeCursor(scope, at), true)).to.deep.equal(at);
      }),
    );
  });

  it('are valid for any order of the filters and any page size', () => {
    const cursor = writeCursor(
      { ...scope, filters: { city: 'Oslo', country: 'NO' } },
      { rank: 0, createdAt: 1, id: 'c' },
    );
    expect(readCursor({ ...scope, filters: { country: 'NO', city: 'Oslo' } }, cursor, false)).to.include({
      id: 'c',
    });
  });

  it('of another filter, operation or organization are rejected', () => {
    const cursor = writeCursor(scope, { rank: 0, createdAt: 1, id: 'c' });
    for (const other of [
      { ...scope, filters: {} },
      { ...scope, filters: { city: 'Bergen' } },
      { ...scope, operation: '/api/audiences/contacts/search' },
      { ...scope, organizationId: 'org_b' },
    ]) {
      expect(() => readCursor(other, cursor, false))
        .to.throw(Problem)
        .that.includes({ code: 'validation_failed' });
    }
  });

  it('with a rank are rejected by unranked searches', () => {
    for (const rank of [-1, 5, 2 ** 63]) {
      const cursor = writeCursor(scope, { rank, createdAt: 1, id: 'c' });
      expect(() => readCursor(scope, cursor, false))
        .to.throw(Problem)
        .that.includes({ code: 'validation_failed' });
      expect(readCursor(scope, cursor, true)).to.include({ rank });
    }
  });

  it('that the service did not issue are rejected', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        expect(() => readCursor(scope, text, true))
          .to.throw(Problem)
          .that.includes({ code: 'validation_failed' });
      }),
    );
  });
});
