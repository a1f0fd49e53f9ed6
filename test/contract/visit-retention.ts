import { expect } from 'chai';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import { DAY_MS } from '../../services/shared/time.js';
import type { VisitRecord } from '../../services/visits/schema.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';

/** Moment from which the settings count. */
const NOW = Date.UTC(2026, 10, 21, 12);
/** Settings in days that reach a limit: of the setting itself, of the years stored by month, of 1970. */
export const DAYS = [1, 30, 2521, 2557, 20_500, 21_000, 36_600];
/** One cutoff in every decade. */
const DECADES = Array.from({ length: 21 }, (_, index) => Date.UTC(1900 + 10 * index, 0, 1));

/** Moments of visits around every border. */
const MOMENTS = [
  ...['1901-03-04', '1925-06-01', '1949-01-01', '1969-12-31', '1970-09-01', '1999-12-31', '2011-05-05'],
  ...['2019-12-31', '2020-01-01', '2020-12-31', '2026-09-01', '2026-11-20', '2026-11-21', '2039-12-31'],
  ...['2040-01-01', '2099-12-31'],
].map((day) => Date.parse(`${day}T11:59:59.999Z`));

export interface RetainedVisits {
  insertVisits(records: readonly OrderedRecord<VisitRecord>[]): Promise<void>;
  countVisitsBefore(createdMs: number): Promise<number>;
  /** Deletes until no older visit is left. */
  deleteAllBefore(createdMs: number): Promise<void>;
  /** Moments of the remaining visits, ascending. */
  left(organizationId: string): Promise<number[]>;
  close(): Promise<void>;
}

/** Rules of what a retention deletes, for every store of visits. The store has nothing else. */
export function visitRetention(open: () => Promise<RetainedVisits>): void {
  describe('the retention of visits', () => {
    const store = useOpened(open);
    const organizationId = 'org_retention';
    const cutoffs = [...DECADES, ...DAYS.map((days) => NOW - days * DAY_MS)].sort(
      (one, other) => one - other,
    );
    const load = () =>
      store.insertVisits(
        accepted(
          MOMENTS.map((moment) => ({
            id: `v${moment}`,
            organizationId,
            createdAt: new Date(moment).toISOString(),
          })),
          NOW,
        ),
      );

    it('deletes nothing where there is nothing, whatever the cutoff', async () => {
      for (const cutoff of cutoffs) {
        expect(await store.countVisitsBefore(cutoff)).to.equal(0);
        await store.deleteAllBefore(cutoff);
      }
    });

    it('deletes exactly the visits from before its cutoff, in every decade, and counts them before', async () => {
      await load();
      let kept = MOMENTS;
      for (const cutoff of cutoffs) {
        const after = kept.filter((moment) => moment >= cutoff);
        const what = new Date(cutoff).toISOString();
        expect(await store.countVisitsBefore(cutoff), what).to.equal(kept.length - after.length);
        await store.deleteAllBefore(cutoff);
        expect(await store.left(organizationId), what).to.deep.equal(after);
        kept = after;
      }
    }).timeout(120_000);

    for (const days of DAYS) {
      it(`keeps what is at most ${days} days old`, async () => {
        await load();
        const cutoff = NOW - days * DAY_MS;
        await store.deleteAllBefore(cutoff);
        expect(await store.left(organizationId)).to.deep.equal(MOMENTS.filter((moment) => moment >= cutoff));
      });
    }

    it('deletes all that a cutoff after the last visit names', async () => {
      await load();
      await store.deleteAllBefore(Date.UTC(2100, 0, 1));
      expect(await store.left(organizationId)).to.deep.equal([]);
      expect(await store.countVisitsBefore(Date.UTC(2100, 0, 1))).to.equal(0);
    });
  });
}
