import { expect } from 'chai';
import fc from 'fast-check';
import { hasTooManyValues, MAX_VALUES } from '../../services/shared/json-values.js';

const tooMany = (text: string, limit?: number) => hasTooManyValues(Buffer.from(text), limit);

describe('Values of a JSON text', () => {
  it('are counted by [ { , and : outside of strings', () => {
    const text = '{"a,b":[1,{"c":"[{:,\\"[\\\\"}],"d":"\\\\"}';
    expect(tooMany(text, 8)).equal(false);
    expect(tooMany(text, 7)).equal(true);
  });

  it('are as many as its containers, commas and names, whatever its strings hold', () => {
    const count = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 0;
      const items = Object.values(value);
      const names = Array.isArray(value) ? 0 : items.length;
      return 1 + names + Math.max(0, items.length - 1) + items.reduce((sum, item) => sum + count(item), 0);
    };
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const expected = count(JSON.parse(text));
        expect(tooMany(text, expected)).equal(false);
        if (expected > 0) expect(tooMany(text, expected - 1)).equal(true);
      }),
      { seed: 24 },
    );
  });

  it('may be 20 000, in any shape', () => {
    expect(MAX_VALUES).equal(20_000);
    for (const repeated of ['[', '{', ',', ':', '{"a":1},']) {
      expect(tooMany(repeated.repeat(500_000)), repeated).equal(true);
    }
    expect(tooMany(`[${Array(20_000).fill(0).join(',')}]`)).equal(false);
    expect(tooMany(`"${'[,:{'.repeat(250_000)}"`)).equal(false);
    expect(tooMany(`"${'\\\\'.repeat(250_000)}`)).equal(false);
  });
});
