import { expect } from 'chai';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { searchCampaigns, searchCreatives } from '../../services/advertising/list-endpoints.js';
import { accepted } from '../support/accepted.js';
import { call, openTemporaryStore } from './helper.js';

describe('Statuses and objectives', () => {
  let store: AnalyticsStore;
  let dispose: () => Promise<void>;
  before(async () => {
    ({ store, dispose } = await openTemporaryStore());
  });
  after(() => dispose());

  const range = { start_date: '2026-10-01', end_date: '2026-10-03' };

  it('filter by every known status, and by any that a campaign or creative carries', async () => {
    const organization_id = 'org_statuses';
    const statuses = [
      ...'ACTIVE PAUSED ARCHIVED COMPLETED CANCELED DRAFT PENDING_DELETION REMOVED'.split(' '),
    ];
    await store.insertCampaigns(
      accepted(
        [...statuses, 'Weird_new'].map((status) => ({
          organization_id,
          id: status,
          status,
          objective_type: status === 'DRAFT' ? 'Odd' : 'ENGAGEMENT',
        })),
        1,
      ),
    );
    await store.insertCreatives(
      accepted([{ organization_id, id: 'r1', campaign_id: 'DRAFT', status: 'Rejected' }], 1),
    );
    const find = async (filters: object) => {
      const { items, warnings } = await call(searchCampaigns, store, organization_id, {
        ...range,
        ...filters,
      });
      return [items.map(({ id }) => id), warnings.filter((each) => each.startsWith('unknown'))];
    };
    for (const status of statuses) {
      expect(await find({ statuses: [status.toLowerCase()] })).to.deep.equal([[status], []]);
    }
    expect(await find({ statuses: ['weird_NEW'], objective_types: ['engagements'] })).to.deep.equal([
      ['Weird_new'],
      [],
    ]);
    expect(await find({ objective_types: ['odd'] })).to.deep.equal([['DRAFT'], []]);
    expect(await find({ statuses: ['rejected'] })).to.deep.equal([[], []]);
    expect(
      await find({ statuses: ['REMOVED', 'nowhere'], objective_types: ['engagement', 'none'] }),
    ).to.deep.equal([
      ['REMOVED'],
      ['unknown_objective_type: Matches nothing: none.', 'unknown_status: Matches nothing: nowhere.'],
    ]);
    const creatives = await call(searchCreatives, store, organization_id, {
      ...range,
      statuses: ['REJECTED'],
      objective_types: ['ODD'],
    });
    expect(creatives.items.map(({ id }) => id)).to.deep.equal(['r1']);
    expect(creatives.warnings.join()).not.to.contain('unknown');
  });
});
