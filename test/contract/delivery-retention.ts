import { expect } from 'chai';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { firstDayOf, type Month, monthAt, monthFrom } from '../../services/shared/month.js';
import { DAY_MS } from '../../services/shared/time.js';
import { accepted } from '../support/accepted.js';
import { rawSql } from '../support/raw-sql.js';
import { DAYS } from './visit-retention.js';

const NOW = Date.UTC(2026, 10, 21, 12);
const MONTHS = [
  '1970-01',
  '1979-12',
  '1999-12',
  '2000-01',
  '2019-12',
  '2020-01',
  '2026-10',
  '2026-11',
  '2039-12',
  '2099-12',
];
const monthOf = (name: string) => monthFrom(Number(name.slice(0, 4)), Number(name.slice(5))) as Month;
const nameOf = (month: Month) => firstDayOf(month).slice(0, 7);
const DECADES = Array.from({ length: 21 }, (_, index) => monthOf(`${1900 + 10 * index}-01`));

/** Rules of what a retention deletes, for every way to reach ClickHouse. Afterwards the store has no deliveries. */
export function deliveryRetention(opened: () => AnalyticsStore): void {
  describe('the retention of deliveries', () => {
    const organization_id = 'org_retention';
    const load = () =>
      opened().insertDeliveries(
        accepted(
          MONTHS.map((month) => ({
            organization_id,
            date: `${month}-28`,
            campaign_id: 'c',
            creative_id: 'r',
            company_id: 'o',
            impressions: 1,
          })),
          NOW,
        ),
      );
    const left = async () => {
      const tables = ['creative_deliveries', 'company_deliveries', 'delivery_days'];
      const answers = await Promise.all(
        tables.map(async (table) => {
          const { rows } = await opened().query<{ month: string }>({
            name: 'test',
            sql: rawSql(
              `SELECT DISTINCT substring(toString(date), 1, 7) AS month FROM ${table} FINAL WHERE organization_id = {o:String} ORDER BY month`,
            ),
            params: { o: organization_id },
          });
          return rows.map(({ month }) => month);
        }),
      );
      for (const answer of answers.slice(1)) expect(answer).to.deep.equal(answers[0]);
      return answers[0];
    };
    const cutoffs = [...DECADES, ...DAYS.map((days) => monthAt(NOW - days * DAY_MS))].sort(
      (one, other) => one - other,
    );
    before(async () => {
      await opened().dropDeliveriesBefore(monthOf('2149-06'));
    });

    it('deletes nothing where there is nothing, whatever the cutoff', async () => {
      for (const cutoff of cutoffs) {
        expect(await opened().countDeliveriesBefore(cutoff)).to.deep.equal([]);
        expect(await opened().dropDeliveriesBefore(cutoff)).to.deep.equal([]);
      }
    });

    it('deletes exactly the months before its cutoff, in every decade, and counts them before', async () => {
      await load();
      let kept = MONTHS;
      for (const cutoff of cutoffs) {
        const gone = kept.filter((month) => monthOf(month) < cutoff);
        kept = kept.filter((month) => !gone.includes(month));
        const counted = await opened().countDeliveriesBefore(cutoff);
        expect(counted.map(({ month }) => nameOf(month))).to.deep.equal(gone);
        // A row and its mark, in each of the two tables.
        for (const { rows } of counted) expect(rows).to.be.at.least(2);
        expect((await opened().dropDeliveriesBefore(cutoff)).map(nameOf)).to.deep.equal(gone);
        expect(await left(), nameOf(cutoff)).to.deep.equal(kept);
      }
    }).timeout(120_000);

    for (const days of DAYS) {
      it(`keeps the months of the last ${days} days`, async () => {
        await load();
        const cutoff = monthAt(NOW - days * DAY_MS);
        await opened().dropDeliveriesBefore(cutoff);
        expect(await left()).to.deep.equal(MONTHS.filter((month) => monthOf(month) >= cutoff));
      });
    }

    it('deletes all that a cutoff after the last month names', async () => {
      await load();
      await opened().dropDeliveriesBefore(monthOf('2100-01'));
      expect(await left()).to.deep.equal([]);
    });
  });
}
