import { expect } from 'chai';
import fc from 'fast-check';
import {
  emailsIn,
  ipAddressIn,
  isDebris,
  isReportLine,
  phonesIn,
  unwrapped,
} from '../../../ingest/mapping/cells.js';
import { ConversionFailure } from '../../../ingest/mapping/target-types.js';
import { salesforceId, toolId } from '../../../ingest/mapping/tool-id.js';
import { runs, SEED } from '../../support/random.js';

const OPTIONS = { numRuns: runs(200), seed: SEED };
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,9}$/);
const email = fc.tuple(word, word).map(([name, host]) => `${name}@${host}.example`);

describe('An id of a tool', () => {
  it('is the same as a whole number and as a float', () => {
    const zeros = fc.tuple(fc.constantFrom('.', ','), fc.constantFrom('0', '00', '000000'));
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), zeros, (number, [mark, zero]) => {
        expect(toolId(`${number}${mark}${zero}`)).to.equal(String(number));
        expect(toolId(String(number))).to.equal(String(number));
      }),
      OPTIONS,
    );
  });

  it('is refused in powers of ten, which stand for many ids', () => {
    for (const text of [
      '1.23E8',
      '1.23E+8',
      '1,23E+08',
      '4.93012e+11',
      '1E+08',
      '7.2e+02',
      'urn:li:sponsoredCampaign:7.2E8',
    ])
      expect(toolId(text), text).to.be.instanceOf(ConversionFailure).and.to.include({ code: 'rounded_id' });
  });

  it('of letters and digits stays, also with an e among the digits', () => {
    for (const text of ['1e8', '64123456789012345678e123', '5f0c7d1e-0001', '12.5', 'v1.0', '0E5', 'e+5'])
      expect(toolId(text), text).to.equal(text);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9:_-]{1,24}$/), (text) => {
        expect(toolId(text)).to.equal(text);
      }),
      OPTIONS,
    );
  });

  it('of Salesforce has 18 characters, which differ also where case does not count', () => {
    // The example pair in the documentation of Salesforce.
    expect(salesforceId('001A0000006Vm9r')).to.equal('001A0000006Vm9rIAC');
    const short = fc.stringMatching(/^[A-Za-z0-9]{15}$/);
    fc.assert(
      fc.property(short, fc.array(fc.boolean(), { minLength: 15, maxLength: 15 }), (id, flips) => {
        const full = salesforceId(id);
        expect(full).to.match(/^[A-Za-z0-9]{15}[A-Z0-5]{3}$/);
        expect(salesforceId(full)).to.equal(full);
        const other = [...id]
          .map((sign, at) =>
            flips[at] ? (sign === sign.toUpperCase() ? sign.toLowerCase() : sign.toUpperCase()) : sign,
          )
          .join('');
        expect(salesforceId(other).toLowerCase() === full.toLowerCase()).to.equal(other === id);
      }),
      OPTIONS,
    );
  });
});

describe('A cell', () => {
  it('has its email addresses whatever is around them', () => {
    const decorated = email.chain((address) =>
      fc
        .constantFrom('', 'Lee, Ann <', '"Ann Lee" <', 'Ann Lee (', 'mailto:', 'MAILTO:', '<mailto:')
        .map((before) => {
          const after = before.endsWith('(') ? ')' : before.includes('<') ? '>' : '';
          return {
            address,
            text: before + address + (before.toLowerCase() === 'mailto:' ? '?subject=x' : after),
          };
        }),
    );
    const separator = fc.constantFrom(', ', ',', '; ', ';', ' ::: ', '\n', '\r\n', ', n/a, ');
    fc.assert(
      fc.property(fc.array(decorated, { minLength: 1, maxLength: 4 }), separator, (entries, between) => {
        const cell = entries.map(({ text }) => text).join(between);
        expect(emailsIn(cell)).to.deep.equal(entries.map(({ address }) => address));
      }),
      OPTIONS,
    );
    for (const text of ['n/a', 'N/A', '-', '—', 'none', 'no email', '/o=Ex/cn=rk', ''])
      expect(emailsIn(text), text).to.deep.equal([]);
    // The text is not an address, so its record is rejected.
    expect(emailsIn('ann lee@b.example')).to.deep.equal(['ann lee@b.example']);
  });

  it('has a phone without what programs add, and none in powers of ten', () => {
    for (const [text, phone] of [
      ['4930123456.0', '4930123456'],
      ['tel:+49 30 123', '+49 30 123'],
      ['+1 201 555 0123;ext=12', '+1 201 555 0123;ext=12'],
      ['01.02.03', '01.02.03'],
      ['4.93012E+11', null],
      ['4,9E+11', null],
      ['030 / 1234567', '030 / 1234567'],
      ['020 7946 0959 / tel:+442079460960', ['020 7946 0959', '+442079460960']],
      ['1234567 | 1234568 | 12', '1234567 | 1234568 | 12'],
    ] as const)
      expect(phonesIn(text), text).to.deep.equal(phone);
  });

  it('has the first address of a visitor, without port, brackets and zone', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6());
    fc.assert(
      fc.property(address, fc.nat(65_535), fc.constantFrom('', ', 10.0.0.1', ',::1'), (ip, port, others) => {
        const isLong = ip.includes(':');
        const forms = isLong
          ? [ip, `[${ip}]`, `[${ip}]:${port}`, `${ip}%eth0`]
          : [ip, ` ${ip}`, `${ip}:${port}`];
        for (const form of forms) expect(ipAddressIn(form + others), form + others).to.equal(ip);
      }),
      OPTIONS,
    );
    for (const text of ['unknown', '-', '10.0.0', '300.1.1.1', '1', '0x7f000001', '', ':'])
      expect(ipAddressIn(text), text).to.equal(null);
  });

  it('may hold what a spreadsheet left in place of a value, and people may be called Null', () => {
    for (const text of [
      '#N/A',
      '#REF!',
      '#NAME?',
      '#VALUE!',
      '##',
      '########',
      'NULL',
      '(not set)',
      '#NV',
      'Err:502',
      'nan',
      'None',
      '(blank)',
      'Loading...',
    ])
      expect(isDebris(text), text).to.equal(true);
    for (const text of [
      'Null',
      'null',
      'Nan',
      'none',
      'N/A',
      '#',
      '#1',
      '#sales',
      'NULLARBOR',
      'not set',
      'Err',
      '-',
    ])
      expect(isDebris(text), text).to.equal(false);
  });

  it('is unwrapped where a formula keeps its digits', () => {
    for (const [text, value] of [
      ['="01067"', '01067'],
      ['=""', ''],
      ['="a ""b"""', 'a "b"'],
      ['="', '="'],
      ['=1+1', '=1+1'],
    ] as const)
      expect(unwrapped(text), text).to.equal(value);
  });

  it('at the beginning of a row tells sums of a report from names', () => {
    for (const text of [
      'Total',
      'TOTALS',
      'Grand total',
      'Total: Account',
      'Total (3)',
      'Gesamt',
      'Summe',
      '合計',
      '©2026 X',
    ])
      expect(isReportLine(text), text).to.equal(true);
    for (const text of ['Total Wine', 'Totally', 'Sum of us', 'Summer', 'Totalbrand', '2026-09-13', ''])
      expect(isReportLine(text), text).to.equal(false);
  });

  it('of 64 KiB is read in time that grows with its length', () => {
    for (const text of ['<', '(', '@', '1', ' ', '#', 'a@', ',', '[', 'urn:', '="'])
      for (const read of [emailsIn, ipAddressIn, phonesIn, toolId, isReportLine, isDebris, unwrapped]) {
        const began = performance.now();
        read(text.repeat(65_536 / text.length));
        expect(performance.now() - began, `${read.name} of ${text}`).to.be.below(500);
      }
  });
});
