import { expect } from 'chai';
import type { DeliveryRecord } from '../../../services/advertising/records.js';
import { inOrder } from '../../../services/shared/record-order.js';
import { splitByMonths } from '../../../services/stores/clickhouse/rows.js';

const deliveriesOf = (dates: readonly string[]) =>
  inOrder<DeliveryRecord>(
    dates.map((date, index) => ({ organization_id: 'o', date, campaign_id: `c${index}`, creative_id: 'r' })),
    1,
  );
const dateOf = ({ date }: DeliveryRecord) => date;
const monthsOf = (records: ReturnType<typeof deliveriesOf>) =>
  new Set(records.map(({ record }) => record.date.slice(0, 7)));

describe('deliveries of many months', () => {
  it('are split into parts of 36 months, sorted by month, with every record once', () => {
    const dates = Array.from({ length: 2150 }, (_, index) =>
      new Date(Date.UTC(2000, (index * 37) % 320, 1 + (index % 28))).toISOString().slice(0, 10),
    );
    const records = deliveriesOf(dates);
    const parts = splitByMonths(records, dateOf, 36);
    expect(parts.map((part) => monthsOf([...part]).size)).to.deep.equal([36, 36, 36, 36, 36, 36, 36, 36, 32]);
    const all = parts.flat();
    expect(all).to.have.length(records.length);
    const kept = new Set(all);
    expect(records.filter((record) => !kept.has(record))).to.deep.equal([]);
    const months = all.map(({ record }) => record.date.slice(0, 7));
    expect(months).to.deep.equal([...months].sort());
  });

  it('stay one part when they have few months', () => {
    const records = deliveriesOf(['2026-03-01', '2026-01-01', '2026-03-02']);
    expect(splitByMonths(records, dateOf, 36)).to.deep.equal([records]);
    expect(splitByMonths([], dateOf, 36)).to.deep.equal([]);
  });
});
