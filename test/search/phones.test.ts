import { expect } from 'chai';
import fc from 'fast-check';
import { nationalForms, phoneAlternatives, phoneDigits, phoneWords } from '../../services/search/phones.js';

describe('A phone number', () => {
  const numbers: [written: string, digits: string][] = [
    ['+1 (202) 224-3441', '12022243441'],
    ['202.224.3441', '2022243441'],
    ['001 202 224 3441', '12022243441'],
    ['+44 (0)20 7946 0958', '442079460958'],
    ['+44 ( 0 ) 20 7946 0958', '442079460958'],
    ['0044 20 7946 0958', '442079460958'],
    ['020 7946 0958', '02079460958'],
    ['+1 (202) 555-0147 ext. 12', '12025550147'],
    ['202-555-0147x12', '2025550147'],
    ['202-555-0147 #12', '2025550147'],
    ['202-555-0147;ext=12', '2025550147'],
    ['2025550147,,12', '2025550147'],
    ['2025550147;12', '2025550147'],
    ['2025550147~12', '2025550147'],
    ['12345 x6', '12345'],
    ['+7 495 123-45-67 доб. 89', '74951234567'],
    ['+49 30 123456 Durchwahl 7', '4930123456'],
    ['Tel. 1: 202 555 0147', '12025550147'],
    ['Tel.: 202 555 0147 (mobile)', '2025550147'],
    ['٠١٢٣٤٥٦٧٨٩', '0123456789'],
    ['＋８１ ３ １２３４ ５６７８', '81312345678'],
    ['0611/12345', '061112345'],
    ['n/a', ''],
    ['', ''],
  ];
  for (const [written, digits] of numbers) {
    it(`written ${written || 'not at all'} has the digits ${digits || 'of none'}`, () => {
      expect(phoneDigits(written)).to.equal(digits);
    });
  }

  it('is found by its digits, from its end, and in North America without the country code', () => {
    expect(phoneWords('+1 (202) 224-3441')).to.deep.equal(['12022243441', '2022243441', '<14434222021']);
    expect(phoneWords('0044 20 7946 0958')).to.deep.equal(['442079460958', '<859064970244']);
    expect(phoneWords('12 34 56')).to.deep.equal(['123456']);
    expect(phoneWords('none')).to.deep.equal([]);
  });

  it('in a query stands for its digits, its national number and its end, also without a zero before it', () => {
    for (const [digits, ...alternatives] of [
      ['12022243441', '2022243441', '12022243441', '<14434222021'],
      ['02079460958', '02079460958', '<85906497020', '<8590649702'],
      ['0123456', '0123456', '<6543210'],
      ['123456', '123456'],
    ])
      expect(phoneAlternatives(digits as string), digits).to.deep.equal(alternatives);
  });

  it('has the same digits whatever separates them', () => {
    const separators = fc.constantFrom('', ' ', '-', '.', '/', '–', '\u00a0', ') ', ' (');
    const written = fc.array(fc.tuple(fc.integer({ min: 1, max: 999 }), separators), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(written, (parts) => {
        const digits = parts.map(([number]) => number).join('');
        expect(phoneDigits(`+${parts.flat().join('')}`)).to.equal(digits);
        expect(phoneDigits(`00${parts.flat().join('')} ext. 7`)).to.match(new RegExp(`^${digits}7?$`));
      }),
    );
  });

  it('of a query with a country code may be stored nationally', () => {
    for (const [given, ...forms] of [
      ['+44 1273 555158', '1273555158', '01273555158'],
      ['0044 (0)1273 555158', '1273555158', '01273555158'],
      ['+7 495 777 45 67', '4957774567', '04957774567', '84957774567'],
      ['+353 1 496 0715', '14960715', '014960715'],
      ['+1 (503) 555-0186', '5035550186', '05035550186'],
      ['+298 123456', '123456', '0123456'],
      ['+298 12345'],
      ['+20 2 2345 6789', '223456789', '0223456789'],
      ['+36 1 234 5678', '12345678', '012345678', '0612345678'],
      ['+358 9 123 456', '9123456', '09123456'],
      ['+421 2 1234 567', '21234567', '021234567'],
      ['+590 590 12 34 56', '590123456', '0590123456'],
      ['+672 3 12345', '312345', '0312345'],
      ['+852 1234 5678', '12345678', '012345678'],
      ['+961 1 123 456', '1123456', '01123456'],
      ['(＋４４) 1273 555158', '1273555158', '01273555158'],
      ['44 1273 555158'],
      ['01273 555158'],
      ['+'],
    ]) {
      expect(nationalForms(given as string), given).to.deep.equal(forms);
    }
  });
});
