import { expect } from 'chai';
import fc from 'fast-check';
import { moneyText } from '../../services/advertising/money.js';

describe('money of a record', () => {
  it('is kept as it was written', () => {
    expect(moneyText('0012.500')).to.equal('0012.500');
    expect(moneyText(0.1)).to.equal('0.1');
    expect(moneyText(1e-7)).to.equal('0.0000001');
    expect(moneyText(1.5e-8)).to.equal('0.000000015');
    expect(moneyText(1e21)).to.equal('1000000000000000000000');
    expect(moneyText(1.25e22)).to.equal('12500000000000000000000');
    expect(moneyText(0)).to.equal('0');
    expect(moneyText(-0)).to.equal('0');
  });

  it('is rejected when it cannot be kept exactly', () => {
    const rejected = [
      0.1 + 0.2,
      1e-13,
      1e26,
      -1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '',
      '1e3',
      '-1',
      '1.',
      '.5',
      ' 1',
      '1,5',
      '0.1234567890123',
    ];
    for (const value of rejected) expect(moneyText(value), String(value)).to.equal(null);
  });

  it('reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e26, noNaN: true, maxExcluded: true }), (value) => {
        const text = moneyText(value);
        if (text !== null) expect(Number(text)).to.equal(value);
      }),
    );
  });
});
