import { expect } from 'chai';
import fc from 'fast-check';
import { serialize } from '../../services/http/serialize.js';

const large = (items: unknown[]) =>
  Array.from({ length: 2000 }, (_, index) => ({ index, items, pad: 'x'.repeat(100) }));

describe('Serialization', () => {
  it('serializes small responses exactly as one call would', async () => {
    const answer = { items: [{ a: 1 }, { a: 2 }], page: 1 };
    expect(String(await serialize(answer))).to.equal(JSON.stringify(answer));
  });

  it('serializes large responses exactly as one call would', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        async (items, rest) => {
          const answer = { first: null, ...rest, list: large(items), absent: undefined, last: [] };
          expect(String(await serialize(answer))).to.equal(JSON.stringify(answer));
        },
      ),
      { numRuns: 20 },
    );
  });
});
