import { expect } from 'chai';
import { gatewaySuite, useGateway } from '../../support/gateway.js';
import { realLines } from '../../support/real-data.js';

const COUNT = 2_500;

interface VisitLine {
  id: string;
  createdAt: string;
}

const visitLines = () =>
  realLines('website-visits')
    .slice(0, COUNT)
    .map((line) => ({ ...(JSON.parse(line) as VisitLine), organizationId: 'org_a' }));

export const visitsPaging = gatewaySuite('Paging through all visits while new ones arrive', (start) => {
  const visits = visitLines();
  const gateway = useGateway(async ({ ingest }) => {
    const answer = await ingest('website-visits', visits);
    expect(answer.body, answer.text).to.include({ accepted: COUNT, rejected: 0 });
  }, start);

  const tomorrow = new Date(Date.now() + 12 * 3_600_000).toISOString();
  it('returns each visit that existed at the start exactly once, newest first', async function () {
    this.timeout(60_000);
    const seen: VisitLine[] = [];
    let cursor: unknown = null;
    let arrived = 0;
    do {
      const answer = await gateway.call('/api/website-visits/search', {
        organization_id: 'org_a',
        limit: 125,
        cursor,
      });
      expect(answer.status, answer.text).to.equal(200);
      seen.push(...(answer.body.visits as VisitLine[]));
      cursor = answer.body.next_cursor;
      // One newer than all, one older than all, and one in the very second the page ended in.
      const last = seen.at(-1) as VisitLine;
      await gateway.ingest(
        'website-visits',
        [tomorrow, '2001-01-01T00:00:00Z', last.createdAt].map((createdAt) => ({
          id: `new_${arrived++}`,
          createdAt,
        })),
      );
    } while (cursor !== null);

    const first = seen.filter(({ id }) => !id.startsWith('new_'));
    expect(first).to.have.length(COUNT);
    expect(new Set(first.map(({ id }) => id)).size).to.equal(COUNT);
    expect(seen.map(({ createdAt }) => createdAt)).to.deep.equal(
      seen.map(({ createdAt }) => createdAt).sort((a, b) => (a < b ? 1 : -1)),
    );
    const again = await gateway.ingest('website-visits', visits);
    expect(again.body).to.include({ accepted: COUNT });
    const total = await gateway.call('/api/website-visits/search', { organization_id: 'org_a', limit: 1 });
    expect(total.body.total_count).to.equal(COUNT + arrived);
  });
});
