import { expect } from 'chai';
import { readAnalyticsFigures } from '../../services/status/analytics-figures.js';
import { openTemporaryStore, type TemporaryStore } from '../advertising/helper.js';
import { accepted } from '../support/accepted.js';

const T0 = Date.parse('2026-11-21T12:00:00.123Z');
const EMPTY = { records: 0, lastAcceptedAt: null, lastDate: null };

describe('Figures of advertising streams', () => {
  let opened: TemporaryStore;
  before(async () => {
    opened = await openTemporaryStore();
  });
  after(() => opened.dispose());

  it('are zero and null before the first record', async () => {
    expect(await readAnalyticsFigures(opened.store, 'org_none')).to.deep.equal({
      campaigns: EMPTY,
      creatives: EMPTY,
      companies: EMPTY,
      deliveries: EMPTY,
    });
  });

  it('count each record once, and name the newest acceptance and day', async () => {
    const { store } = opened;
    const campaign = { organization_id: 'org', id: 'cam' };
    const delivery = (date: string, organization_id = 'org') => ({
      organization_id,
      date,
      campaign_id: 'cam',
      company_id: 'co',
    });
    await store.insertCampaigns(accepted([campaign], T0));
    await store.insertCampaigns(accepted([{ ...campaign, name: 'Renamed' }], T0 + 7));
    const days = [delivery('2026-11-19'), delivery('2026-10-01')];
    await store.insertDeliveries(accepted(days, T0 + 1));
    const byBoth = { ...delivery('2026-11-17'), creative_id: 'cre' };
    const byCreative = { ...byBoth, company_id: null };
    await store.insertDeliveries(accepted([byBoth, byCreative], T0 + 2));
    // The newest acceptance belongs to the oldest report.
    await store.insertDeliveries(
      accepted([{ ...delivery('2026-11-18'), reported_at: '1971-01-01T00:00:00Z' }], T0 + 5),
    );
    await store.insertDeliveries(accepted([delivery('2026-11-20', 'org_other')], T0 + 9));
    expect(await readAnalyticsFigures(store, 'org')).to.deep.equal({
      campaigns: { records: 1, lastAcceptedAt: T0 + 7, lastDate: null },
      creatives: EMPTY,
      companies: EMPTY,
      deliveries: { records: 5, lastAcceptedAt: T0 + 5, lastDate: '2026-11-19' },
    });
  });
});
