import { expect } from 'chai';
import { REJECTION_LIMITS, type Rejection } from '../../services/rejections/rejection-store.js';
import { newId } from '../../services/shared/ids.js';
import { useOpened } from '../support/opened.js';
import { freshOrganization, type Open } from './search-support.js';

export function searchStoreRejections(open: Open): void {
  describe('rejections', () => {
    const opened = useOpened(() => open());

    const now = Date.now();
    const rejections = (organizationId: string, count: number, atMs = now) =>
      Array.from(
        { length: count },
        (_, index): Rejection => ({
          id: newId('rej', atMs + index),
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

    it('are listed newest first, of one organization or of all, until they are deleted', async () => {
      const [organization, other] = [freshOrganization(), freshOrganization()];
      const own = rejections(organization, 60);
      const ofOther = rejections(other, 1);
      await opened.store.keepRejections(organization, own);
      await opened.store.keepRejections(other, ofOther);
      expect(await opened.store.listRejections(organization)).to.deep.equal(own.toReversed());
      expect(await opened.store.listRejections()).to.deep.include.members([...own, ...ofOther]);
      await opened.store.deleteRejections(own.slice(1).map(({ id }) => id));
      expect(await opened.store.listRejections(organization)).to.deep.equal(own.slice(0, 1));
      expect(await opened.store.listRejections(other)).to.deep.equal(ofOther);
    });

    it('of an organization are bounded in number and age, and the oldest go first', async () => {
      const organization = freshOrganization();
      const expired = rejections(organization, 1, now - REJECTION_LIMITS.ageMs - 60_000);
      await opened.store.keepRejections(organization, [
        ...expired,
        ...rejections(organization, REJECTION_LIMITS.records, now - 60_000),
      ]);
      await opened.store.listRejections(organization);
      const last = rejections(organization, 5);
      await opened.store.keepRejections(organization, last);
      // Bounds may lag behind by what is not searchable yet.
      await opened.store.listRejections(organization);
      await opened.store.keepRejections(organization, []);
      const left = await opened.store.listRejections(organization);
      expect(left).to.have.length(REJECTION_LIMITS.records);
      expect(left.slice(0, 5)).to.deep.equal(last.toReversed());
      expect(left.at(-1)?.line).to.equal(6);
    });
  });
}
