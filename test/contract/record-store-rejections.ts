import { expect } from 'chai';
import { REJECTION_LIMITS, type Rejection, rejectionId } from '../../services/rejections/rejection-store.js';
import type { SortKey } from '../../services/search/query.js';
import { fromJson } from '../../services/shared/json.js';
import { useOpened } from '../support/opened.js';
import { freshOrganization, type Open } from './record-store-support.js';

export function recordStoreRejections(open: Open): void {
  describe('rejections', () => {
    const opened = useOpened(() => open());
    afterEach(() => {
      opened.clock.now = Date.now;
    });

    const now = Date.now();
    const rejections = (organizationId: string, count: number, atMs = now) =>
      Array.from(
        { length: count },
        (_, index): Rejection => ({
          id: rejectionId(atMs + index, index + 1),
          organization_id: organizationId,
          stream: 'contacts',
          line: index + 1,
          code: 'invalid_type',
          pointer: '/age',
          rejected_at: new Date(atMs + index).toISOString(),
          sequence: index + 1,
          record_id: 'ü',
        }),
      );

    /** Every rejection, page by page; expects the reported total to match. */
    async function listed(organizationId?: string, stream?: string, limit = 1000): Promise<Rejection[]> {
      const all: Rejection[] = [];
      for (let after: SortKey | undefined; ; ) {
        const page = await opened.store.listRejections({ organizationId, stream, limit, after });
        all.push(...page.items.map(fromJson));
        if (page.next === null) {
          if (organizationId !== undefined) expect(page.total).to.equal(all.length);
          return all;
        }
        after = page.next;
      }
    }

    it('of one millisecond are listed by their sequence, and apart by stream', async () => {
      const organization = freshOrganization();
      const sequences = [7, 2 ** 40, 1, 99_999_999, 0, 2 ** 31, Number.MAX_SAFE_INTEGER];
      const all = sequences.map((sequence, index): Rejection => {
        const [template] = rejections(organization, 1) as [Rejection];
        const stream = index % 2 === 0 ? 'contacts' : 'audiences';
        return { ...template, id: rejectionId(now, sequence), sequence, stream };
      });
      await opened.store.keepRejections(organization, all);
      const expected = all.toSorted((one, other) => other.sequence - one.sequence);
      expect(await listed(organization, undefined, 2)).to.deep.equal(expected);
      const contacts = expected.filter(({ stream }) => stream === 'contacts');
      expect(await listed(organization, 'contacts', 1)).to.deep.equal(contacts);
      expect(await listed(organization, 'website-visits')).to.deep.equal([]);
    });

    it('are listed newest first, of one organization or of all, until they are deleted', async () => {
      const [organization, other] = [freshOrganization(), freshOrganization()];
      const own = rejections(organization, 60);
      const ofOther = rejections(other, 1);
      await opened.store.keepRejections(organization, own);
      await opened.store.keepRejections(other, ofOther);
      expect(await listed(organization)).to.deep.equal(own.toReversed());
      expect(await listed()).to.deep.include.members([...own, ...ofOther]);
      await opened.store.deleteRejections(own.slice(1).map(({ id }) => id));
      expect(await listed(organization)).to.deep.equal(own.slice(0, 1));
      expect(await listed(other)).to.deep.equal(ofOther);
    });

    it('are deleted once they are 30 days old, and not a millisecond before', async () => {
      const organization = freshOrganization();
      await opened.store.keepRejections(organization, rejections(organization, 1));
      const newer = rejections(organization, 1, now + 60_000);
      for (const [ageMs, left] of [
        [30 * 86_400_000 - 1, 2],
        [30 * 86_400_000, 1],
      ] as const) {
        opened.clock.now = () => now + ageMs;
        await listed(organization);
        await opened.store.keepRejections(organization, newer);
        expect(await listed(organization), String(ageMs)).to.have.length(left);
      }
    });

    it('of an organization are bounded in number and age, and the oldest go first', async () => {
      const organization = freshOrganization();
      const expired = rejections(organization, 1, now - REJECTION_LIMITS.ageMs - 60_000);
      await opened.store.keepRejections(organization, [
        ...expired,
        ...rejections(organization, REJECTION_LIMITS.records, now - 60_000),
      ]);
      await listed(organization);
      const last = rejections(organization, 5);
      await opened.store.keepRejections(organization, last);
      // The bounds may lag behind by writes that are not searchable yet.
      await listed(organization);
      await opened.store.keepRejections(organization, []);
      const left = await listed(organization);
      expect(left).to.have.length(REJECTION_LIMITS.records);
      expect(left.slice(0, 5)).to.deep.equal(last.toReversed());
      expect(left.at(-1)?.line).to.equal(6);
    });
  });
}
