import { expect } from 'chai';
import fc from 'fast-check';
import { readMoney } from '../../services/advertising/money.js';

const textOf = (value: string | number) => readMoney(value)?.text ?? null;

describe('money of a record', () => {
  it('is kept as it was written', () => {
    expect(textOf('0012.500')).to.equal('0012.500');
    expect(textOf(0.1)).to.equal('0.1');
    expect(textOf(1e-7)).to.equal('0.0000001');
    expect(textOf(1.5e-8)).to.equal('0.000000015');
    expect(textOf(1e21)).to.equal('1000000000000000000000');
    expect(textOf(1.25e22)).to.equal('12500000000000000000000');
    expect(textOf(0)).to.equal('0');
    expect(textOf(-0)).to.equal('0');
  });

  it('may end in any number of zeros, which change nothing', () => {
    expect(readMoney(`1.5${'0'.repeat(900)}`)).to.deep.equal({ text: '1.5', isRounded: false });
    expect(readMoney(`-0.${'0'.repeat(900)}`)).to.deep.equal({ text: '0', isRounded: false });
  });

  it('is rounded half-even to 12 digits after the point', () => {
    const rounded: [string | number, string][] = [
      [0.1 + 0.2, '0.3'],
      ['0.1234567890125', '0.123456789012'],
      ['0.1234567890135', '0.123456789014'],
      ['0.12345678901250000000001', '0.123456789013'],
      ['9.9999999999996', '10'],
      [`${'9'.repeat(26)}.9999999999999`, `${'9'.repeat(26)}.999999999999`],
    ];
    for (const [value, text] of rounded) {
      expect(readMoney(value), String(value)).to.deep.equal({ text, isRounded: true });
    }
  });

  it('is 0 below 10⁻¹², above and below zero', () => {
    for (const value of [9e-13, -9e-13, 1e-320, '0.0000000000009', '-0.0000000000009']) {
      expect(readMoney(value), String(value)).to.deep.equal({ text: '0', isRounded: true });
    }
    expect(textOf(1e-12)).to.equal('0.000000000001');
  });

  it('is null for text that is not an amount', () => {
    const rejected = [1e26, -1, -1e-12, Number.NaN, Number.POSITIVE_INFINITY];
    const texts = ['', '1e3', '-1', '1.', '.5', ' 1', '1,5', '1'.repeat(27)];
    for (const value of [...rejected, ...texts]) expect(textOf(value), String(value)).to.equal(null);
  });

  it('of a number with at most 12 digits after the point reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e26, noNaN: true, maxExcluded: true }), (value) => {
        const amount = readMoney(value);
        expect(amount).not.to.equal(null);
        if (amount && !amount.isRounded) expect(Number(amount.text)).to.equal(value);
        else expect(Math.abs(Number(amount?.text) - value)).to.be.at.most(1e-12);
      }),
    );
  });
});
