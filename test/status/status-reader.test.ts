import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { AnalyticsReader } from '../../services/advertising/analytics-store.js';
import type { Pingable } from '../../services/shared/health.js';
import { StatusReader } from '../../services/status/status-reader.js';
import type { Intake, RecordCountsStore } from '../../services/status/status-store.js';

const NOW = Date.parse('2026-11-21T23:59:00Z');
const never = () => new Promise<never>(() => {});
const fail = () => Promise.reject(new Error('down'));

interface Fakes {
  records: RecordCountsStore & Pingable;
  analytics: AnalyticsReader & Pingable;
}

function working(): Fakes & { reads: string[] } {
  const reads: string[] = [];
  return {
    reads,
    records: {
      ping: async () => {},
      async readCounts(organizationId) {
        reads.push(organizationId);
        const records = { records: 1, lastAcceptedAt: 0 };
        return { contacts: records, audiences: records, visits: { ...records, lastCreatedAt: 1 } };
      },
    },
    analytics: {
      ping: async () => {},
      async query<Row>() {
        const row = { inserted: 2, records: 2, accepted_ms: 5, last_date: '2026-11-20' };
        return { rows: [row as Row], total: 1 };
      },
    },
  };
}

const readerOf = (fakes: Fakes, intake?: Intake) =>
  new StatusReader({ ...fakes, intake, clock: { now: () => NOW }, provisionalDays: 7, version: '1.2.3' });

describe('The status reader', () => {
  it('says from which day on figures are provisional', async () => {
    const { streams, version, checked_at } = await readerOf(working()).read('org');
    expect(streams['network-a-deliveries']).to.deep.equal({
      records: 2,
      approximate: false,
      last_accepted_at: '1970-01-01T00:00:00.005Z',
      last_date: '2026-11-20',
      provisional_from: '2026-11-15',
    });
    expect(streams['website-visits'].last_created_at).to.equal('1970-01-01T00:00:00.001Z');
    expect({ version, checked_at }).to.deep.equal({
      version: '1.2.3',
      checked_at: '2026-11-21T23:59:00.000Z',
    });
  });

  it('reads once for concurrent and later callers of an organization, and apart for others', async () => {
    const fakes = working();
    const reader = readerOf(fakes);
    const [first, second] = await Promise.all([reader.read('org_a'), reader.read('org_a')]);
    expect(await reader.read('org_a'))
      .to.equal(first)
      .and.equal(second);
    expect((await reader.read('org_b')).organization_id).to.equal('org_b');
    expect(fakes.reads).to.deep.equal(['org_a', 'org_b']);
  });

  it('counts campaigns while deliveries cannot be counted', async () => {
    const fakes = working();
    const { query } = fakes.analytics;
    fakes.analytics.query = (statement, signal) =>
      statement.sql.text.includes('deliver') ? fail() : query(statement, signal);
    const { streams } = await readerOf(fakes).read('org');
    expect(streams['network-a-campaigns'].records).to.equal(2);
    expect(streams['network-a-deliveries'].records).to.equal(null);
  });

  describe('within 3 s', () => {
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());

    /** The status that is read within 3 s on the clock of the reader. */
    async function statusOf(fakes: Fakes, intake?: Intake) {
      let isRead = false;
      const reading = readerOf(fakes, intake)
        .read('org')
        .finally(() => {
          isRead = true;
        });
      for (let passedMs = 0; !isRead; passedMs += 100) {
        expect(passedMs).to.be.at.most(3000);
        mock.timers.tick(100);
        await turn();
      }
      return reading;
    }

    for (const [how, work] of [
      ['fails', fail],
      ['hangs', never],
    ] as const) {
      it(`gives null figures of a records store that ${how}`, async () => {
        const { stores, streams } = await statusOf({
          ...working(),
          records: { ping: work, readCounts: work },
        });
        expect(stores).to.deep.equal({ records: 'unavailable', analytics: 'ok' });
        expect(streams.contacts).to.deep.equal({ records: null, approximate: false, last_accepted_at: null });
        expect(streams['website-visits'].last_created_at).to.equal(null);
        expect(streams['network-a-deliveries'].records).to.equal(2);
      });

      it(`gives null figures of an analytics store that ${how}`, async () => {
        const { stores, streams } = await statusOf({ ...working(), analytics: { ping: work, query: work } });
        expect(stores).to.deep.equal({ records: 'ok', analytics: 'unavailable' });
        expect(streams['network-a-deliveries']).to.include({ records: null, last_date: null });
        expect(streams.contacts.records).to.equal(1);
      });

      it(`gives a null lag when Kafka ${how}`, async () => {
        const { stores, streams } = await statusOf(working(), { ping: work, lag: work });
        expect(stores.intake).to.equal('unavailable');
        expect(streams.contacts.lag).to.equal(null);
      });
    }
  });

  it('names the lag of every stream with Kafka', async () => {
    const intake = { ping: async () => {}, lag: async () => ({ contacts: 3, 'website-visits': 0 }) };
    const { stores, streams } = await readerOf(working(), intake).read('org');
    expect(stores.intake).to.equal('ok');
    expect(streams.contacts.lag).to.equal(3);
    expect(streams['website-visits'].lag).to.equal(0);
  });
});
