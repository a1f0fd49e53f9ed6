import { Readable } from 'node:stream';
import { expect } from 'chai';
import { ingestText } from '../../../ingest/pipeline.js';
import { STREAMS } from '../../../ingest/streams/index.js';
import type { IngestStores } from '../../../ingest/streams/stream.js';
import type { AnalyticsStore } from '../../../services/advertising/analytics-store.js';
import { acceptanceClock } from '../../../services/shared/record-order.js';
import { onClickHouse, openHttpStore } from './support.js';

/** More than one batch, and the second much smaller, so that it is written first. */
const LINES = 16_001;
const ROUNDS = 5;

await onClickHouse(() =>
  describe('Records of one request to ClickHouse over HTTP', function () {
    this.timeout(120_000);
    let store: AnalyticsStore;
    let dispose: () => Promise<void>;

    before(async () => {
      ({ store, dispose } = await openHttpStore());
    });
    after(() => dispose());

    it('keep the order of their lines where several batches are written at once', async () => {
      const kept: (number | undefined)[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const line = (index: number) =>
          JSON.stringify({
            organization_id: `org_${round}`,
            date: '2026-10-01',
            campaign_id: 'c',
            // The last line names the row of the first.
            creative_id: `r${index % (LINES - 1)}`,
            impressions: index,
            reported_at: '2026-10-02T00:00:00Z',
          });
        const text = Array.from({ length: LINES }, (_, index) => line(index)).join('\n');
        const { accepted } = await ingestText({
          stream: STREAMS['network-a-deliveries'],
          stores: { analytics: store } as unknown as IngestStores,
          source: Readable.from([Buffer.from(text)]),
          format: 'ndjson',
          acceptance: acceptanceClock()(),
        });
        expect(accepted).to.equal(LINES);
        const { rows } = await store.query<{ impressions: number }>({
          name: 'test',
          sql: "SELECT impressions FROM creative_deliveries FINAL WHERE organization_id = {organization:String} AND creative_id = 'r0'",
          params: { organization: `org_${round}` },
        });
        kept.push(rows[0]?.impressions);
      }
      expect(kept).to.deep.equal(Array(ROUNDS).fill(LINES - 1));
    });
  }),
);
