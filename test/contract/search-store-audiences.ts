import { expect } from 'chai';
import type { AudienceRecord } from '../../services/audiences/schema.js';
import type { SortKey, TextQuery } from '../../services/search/query.js';
import { parseQuery } from '../../services/search/query-parser.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import { freshOrganization, type Open, T0 } from './search-support.js';

export function searchStoreAudiences(open: Open): void {
  describe('audiences (contract 3.11, 6.2)', () => {
    const opened = useOpened(() => open());

    const at = (milliseconds: number) => new Date(T0 + milliseconds).toISOString();

    async function load(organization: string, ...records: Omit<AudienceRecord, 'organization_id'>[]) {
      await opened.store.upsertAudiences(
        accepted(
          records.map((record) => ({ ...record, organization_id: organization })),
          T0,
        ),
      );
      await opened.store.refresh();
    }

    async function find(organizationId: string, query?: string, offset = 0, limit = 50) {
      const { items, total } = await opened.store.searchAudiences({
        organizationId,
        query: query === undefined ? undefined : (parseQuery(query) as TextQuery),
        offset,
        limit,
      });
      return { ids: items.map(({ id }) => id), total };
    }

    it('an audience carries every key', async () => {
      const organization = freshOrganization();
      await load(organization, { id: 'a', name: 'A', description: ' ' });
      expect(await opened.store.getAudience(organization, 'a')).to.deep.equal({
        id: 'a',
        organization_id: organization,
        name: 'A',
        description: null,
        network_a: false,
        network_b: false,
        network_c: false,
        tracking_utm_value: null,
        created_at: new Date(T0).toISOString(),
      });
      expect(await opened.store.getAudience(freshOrganization(), 'a')).to.equal(null);
    });

    it('pages on behind a sort key, with and without a query', async () => {
      const organization = freshOrganization();
      await load(organization, ...['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, name: `Name ${id}` })));
      for (const query of [undefined, 'name']) {
        const found: string[] = [];
        let after: SortKey | undefined;
        do {
          const page = await opened.store.searchAudiences({
            organizationId: organization,
            query: query === undefined ? undefined : (parseQuery(query) as TextQuery),
            limit: 2,
            after,
          });
          expect(page.total).to.equal(5);
          found.push(...page.items.map(({ id }) => id));
          after = page.next ?? undefined;
        } while (after !== undefined);
        expect(found).to.deep.equal(['e', 'd', 'c', 'b', 'a']);
      }
    });

    it('a record is whole, an older one changes nothing, of equal ones the later wins', async () => {
      const organization = freshOrganization();
      await load(
        organization,
        { id: 'a', name: 'First', description: 'words', updated_at: at(2) },
        { id: 'a', name: 'Old', updated_at: at(1) },
        { id: 'a', name: 'Second', network_a: true, updated_at: at(2) },
      );
      expect(await opened.store.getAudience(organization, 'a')).to.include({
        name: 'Second',
        description: null,
        network_a: true,
      });
      expect(await find(organization, 'words')).to.deep.equal({ ids: [], total: 0 });
      expect(await find(organization, 'second')).to.deep.equal({ ids: ['a'], total: 1 });
    });

    it('newest first, then by id, in pages', async () => {
      const organization = freshOrganization();
      await load(
        organization,
        { id: 'a', name: 'X', created_at: at(1) },
        { id: 'b', name: 'X', created_at: at(2) },
        { id: 'c', name: 'X', created_at: at(1) },
      );
      expect(await find(organization)).to.deep.equal({ ids: ['b', 'c', 'a'], total: 3 });
      expect(await find(organization, undefined, 1, 1)).to.deep.equal({ ids: ['c'], total: 3 });
      expect(await find(organization, 'x', 2, 2)).to.deep.equal({ ids: ['a'], total: 3 });
      expect(await find(organization, 'x', 9, 2)).to.deep.equal({ ids: [], total: 3 });
    });

    it('the audience whose whole name is given comes first', async () => {
      const organization = freshOrganization();
      await load(
        organization,
        { id: 'senate', name: 'Senate', created_at: at(1) },
        { id: 'rules', name: 'Senate Committee on Rules', created_at: at(2) },
        { id: 'veterans', name: "Senate Committee on Veterans' Affairs", created_at: at(3) },
        { id: 'house', name: 'House of Representatives', created_at: at(1) },
      );
      expect((await find(organization, 'senate')).ids).to.deep.equal(['senate', 'veterans', 'rules']);
      expect((await find(organization, 'representatives of house')).ids).to.deep.equal(['house']);
      expect((await find(organization, "veteran's affairs")).ids).to.deep.equal(['veterans']);
    });

    it('names come before tracking values before descriptions; typos and exclusions as in contacts', async () => {
      const organization = freshOrganization();
      await load(
        organization,
        { id: 'text', name: 'A', description: 'Armed services of the land' },
        { id: 'utm', name: 'B', tracking_utm_value: 'armed-services' },
        { id: 'name', name: 'Armed Services' },
        { id: 'begun', name: 'Armedness services' },
      );
      expect((await find(organization, 'armed services')).ids).to.deep.equal([
        'name',
        'utm',
        'text',
        'begun',
      ]);
      expect((await find(organization, 'armd servcies')).ids).to.have.members(['name', 'utm', 'text']);
      expect((await find(organization, '"armed services" -land')).ids).to.deep.equal(['name', 'utm']);
    });
  });
}
