import { expect } from 'chai';
import { planTable } from '../../ingest/columns/fivetran-linkedin.js';

const HEADER = [
  'creative_id',
  'day',
  'impressions',
  'cost_in_usd',
  'cost_in_local_currency',
  'conversion_value_in_local_currency',
];
const toRecord = planTable('ad_analytics_by_creative', HEADER, {
  campaignOf: new Map([['7', 'c7']]),
  groupName: new Map(),
});
const convert = (dollars: string, local: string, value: string) =>
  toRecord(['7', '2026-10-01 00:00:00', '3', dollars, local, value]);
const conversionValue = (dollars: string, local: string, value: string) => {
  const converted = convert(dollars, local, value);
  return 'record' in converted ? converted.record.conversion_value : converted.code;
};

describe('conversion values of the fivetran-linkedin preset', () => {
  it('are in US dollars, at the exchange rate of their row, exactly', () => {
    expect(conversionValue('11.00', '10.00', '250')).to.equal('275.000000000000');
    expect(conversionValue('1', '3', '1')).to.equal('0.333333333333');
    expect(conversionValue('2', '3', '1')).to.equal('0.666666666667');
    expect(conversionValue('0.000000000001', '2', '1')).to.equal('0.000000000000');
    expect(conversionValue('0.000000000003', '2', '1')).to.equal('0.000000000002');
    expect(conversionValue('1.1', '12345678901234567890', '12345678901234567890')).to.equal('1.100000000000');
  });

  it('stay as they are where both costs are the same, or there is no value', () => {
    expect(conversionValue('5.5', '5.50', '12.25')).to.equal('12.25');
    expect(conversionValue('5', '4', '0')).to.equal('0');
    expect(conversionValue('', '', '0.0')).to.equal('0.0');
    expect(conversionValue('5', '4', '')).to.equal(undefined);
  });

  it('are rejected where their row does not tell the exchange rate', () => {
    for (const [dollars, local] of [
      ['0', '0'],
      ['', ''],
      ['5', ''],
      ['5', '0'],
      ['0', '5'],
      ['', '5'],
    ] as const) {
      const converted = convert(dollars, local, '10');
      expect(converted).to.include({ kind: 'dead_letter', code: 'currency_unknown' });
    }
  });
});
