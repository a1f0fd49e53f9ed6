import { expect } from 'chai';
import { deleteExpired } from '../../services/cli/retention.js';
import { DAY_MS, utcDate } from '../../services/shared/time.js';
import { startTestGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { rawSql } from '../support/raw-sql.js';
import { until } from '../support/until.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const range = { start_date: utcDate(NOW - 200 * DAY_MS), end_date: utcDate(NOW) };

describe('The retention of records', () => {
  const gateway = useOpened(() => startTestGateway({}, { now: () => NOW }, { analyticsOnDemand: false }));
  before(async () => {
    const days = [0, 29, 31, 100];
    for (const organization of ['org_a', 'org_b']) {
      const key = await gateway.keyFor(organization);
      await gateway.ingest(
        'website-visits',
        days.flatMap((day) =>
          Array.from({ length: 600 }, (_, index) => ({
            id: `v_${day}_${index}`,
            createdAt: new Date(NOW - day * DAY_MS).toISOString(),
          })),
        ),
        { key },
      );
    }
    await gateway.ingest(
      'network-a-deliveries',
      days.map((day) => ({
        date: utcDate(NOW - day * DAY_MS),
        campaign_id: 'cam',
        creative_id: 'cre',
        impressions: 10,
      })),
    );
  });

  const visits = async () => {
    const answer = await gateway.call('/api/website-visits/search', { organization_id: 'org_a', limit: 1 });
    return answer.body.total_count;
  };
  const impressions = async () => {
    const { body } = await gateway.call('/api/advertising/network_a/campaigns', range);
    return (body.items as { impressions: number }[])[0]?.impressions;
  };

  it('keeps everything unless it is set', async () => {
    const run = () => deleteExpired({ visitsDays: 0, deliveriesDays: 0 }, gateway.stores, NOW);
    expect(await run()).to.deep.equal({ visits: 0, months: [] });
    expect(await visits()).to.equal(2400);
    expect(await impressions()).to.equal(40);
  });

  it('deletes older visits of every organization, and deliveries by whole months', async () => {
    const lines: unknown[] = [];
    const log = { info: (details: object, message: string) => void lines.push([message, details]) };
    const run = () => deleteExpired({ visitsDays: 30, deliveriesDays: 30 }, gateway.stores, NOW, { log });
    expect(await run()).to.deep.equal({ visits: 2400, months: ['2026-08'] });
    expect(lines.splice(0)).to.deep.equal([
      [
        'deletes visits older than their retention',
        { visits: 2400, sql_visits: 0, before: '2026-10-22T12:00:00.000Z' },
      ],
      [
        'deletes months of deliveries older than their retention',
        // A row and its mark.
        { months: ['2026-08'], rows: 2, before: '2026-10-01' },
      ],
    ]);
    expect(await visits()).to.equal(1200);
    // All of October stays, because it did not end 30 days ago.
    expect(await impressions()).to.equal(30);
    const status = await gateway.call('/api/status', { organization_id: 'org_a' });
    const { streams } = status.body as { streams: Record<string, { records: number }> };
    expect(streams['website-visits']?.records).to.equal(1200);
    expect(await run()).to.deep.equal({ visits: 0, months: [] });
    expect(lines).to.deep.equal([]);
  });

  it('goes on where a run dropped deliveries and was cut short', async () => {
    const run = () => deleteExpired({ visitsDays: 0, deliveriesDays: 30 }, gateway.stores, NOW);
    const old = utcDate(NOW - 100 * DAY_MS);
    const isBeforeFirst = async () => {
      const { body } = await gateway.call('/api/advertising/network_a/campaigns', {
        ...range,
        start_date: old,
      });
      return (body.warnings as string[]).some((warning) => warning.startsWith('range_before_first_data'));
    };
    await gateway.ingest('network-a-deliveries', [{ date: old, campaign_id: 'cam', creative_id: 'cre' }]);
    const drop = 'ALTER TABLE default.creative_deliveries DROP PARTITION 202608';
    const session = (await gateway.stores.engine?.())?.session();
    await session?.run(rawSql(drop), 'Null');
    session?.close();
    expect(await isBeforeFirst()).to.equal(false);
    await run();
    await until(isBeforeFirst, 'the days of the dropped month are gone');
  });
});
