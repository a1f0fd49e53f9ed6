import { expect } from 'chai';
import type { SortKey } from '../../services/search/query.js';
import { freshOrganization, type Open, type OpenStore, T0 } from './search-support.js';

export function searchStoreErasures(open: Open): void {
  describe('erasures', () => {
    let opened: OpenStore;
    let now = T0;
    before(async () => {
      opened = await open({ clock: { now: () => now } });
    });
    after(() => opened.close());

    it('pages proofs by the time of the request, those of one millisecond by id', async () => {
      const organizationId = freshOrganization();
      for (const [proofId, ms] of Object.entries({ era_c: 1, era_b: 0, era_a: 1, era_d: 2 })) {
        now = T0 + ms;
        await opened.store.eraseContacts({
          organizationId,
          proofId,
          keyId: 'key',
          contactIds: [],
          named: [{ kind: 'id', value: proofId }],
        });
      }
      const listed: string[] = [];
      let after: SortKey | undefined;
      do {
        const page = await opened.store.listErasures({ organizationId, limit: 1, after });
        expect(page.total).to.equal(4);
        expect(page.items).to.have.length(1);
        listed.push(...page.items.map(({ proof_id }) => proof_id));
        after = page.next ?? undefined;
      } while (after);
      expect(listed).to.deep.equal(['era_b', 'era_a', 'era_c', 'era_d']);
      expect(
        await opened.store.listErasures({ organizationId: freshOrganization(), limit: 1 }),
      ).to.deep.equal({
        items: [],
        total: 0,
        next: null,
      });
    });
  });
}
