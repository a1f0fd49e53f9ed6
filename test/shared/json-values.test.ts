import { expect } from 'chai';
import fc from 'fast-check';
import { hasTooManyValues, isTooDeep, MAX_DEPTH, MAX_VALUES } from '../../services/shared/json-values.js';

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

describe('Levels of a JSON text', () => {
  const isDeep = (text: string, limit?: number) => isTooDeep(Buffer.from(text), limit);

  it('are those of its arrays and objects, whatever its strings hold', () => {
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        const expected = depth(JSON.parse(text));
        expect(isDeep(text, expected)).equal(false);
        if (expected > 0) expect(isDeep(text, expected - 1)).equal(true);
      }),
      { seed: 24 },
    );
  });

  it('may be 200', () => {
    expect(MAX_DEPTH).equal(200);
    for (const [opening, closing] of ['[]', '{}']) {
      const nested = (levels: number) => `${opening?.repeat(levels)}${closing?.repeat(levels)}`;
      expect(isDeep(nested(200))).equal(false);
      expect(isDeep(nested(201))).equal(true);
      expect(isDeep(nested(1).repeat(1000))).equal(false);
    }
    expect(isDeep(`"${'['.repeat(1000)}"`)).equal(false);
  });
});
