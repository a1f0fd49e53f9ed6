import { createClient } from '@clickhouse/client';
import { expect } from 'chai';
import fc from 'fast-check';
import { ingestRecords } from '../../../ingest/pipeline.js';
import { STREAMS } from '../../../ingest/streams/index.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { createRecordWriter } from '../../../ingest/worker/record-writer.js';
import { acceptedByLine } from '../../../services/shared/record-order.js';
import { RecordRejectedError } from '../../../services/shared/store-errors.js';
import { type OpenedAnalyticsStore, openAnalyticsStore } from '../../../services/stores/clickhouse/store.js';
import { accepted } from '../../support/accepted.js';
import { afterFile } from '../../support/opened.js';
import { runs } from '../../support/random.js';
import { rawSql } from '../../support/raw-sql.js';
import { testDatabase } from './support.js';

const NOW = Date.UTC(2026, 10, 21);
const POISON = 'poison';

describe('Inserts that a ClickHouse server refuses', () => {
  let store: OpenedAnalyticsStore['store'];
  const command = async (query: string) => {
    const client = createClient({ url: config.urls[0] as string, database: `${config.database}_tables` });
    await client.command({ query });
    await client.close();
  };
  const { config } = testDatabase();
  before(async () => {
    ({ store } = await openAnalyticsStore(config));
    afterFile(() => store.close());
  });

  let organizations = 0;
  const organization = () => `org_refused_${++organizations}`;
  const idsOf = async (organizationId: string) => {
    const { rows } = await store.query<{ id: string }>({
      name: 'test',
      sql: rawSql(
        'SELECT visit_id AS id FROM website_visits FINAL WHERE organization_id = {o:String} ORDER BY id',
      ),
      params: { o: organizationId },
    });
    return rows.map(({ id }) => id);
  };

  it('hold visits of any number of months, whatever their offsets from UTC', async () => {
    const offset = fc.constantFrom('Z', '+02:00', '-11:00', '+14:00', '+05:45');
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.array(offset, { minLength: 60, maxLength: 60 }),
        fc.constantFrom(2016, 2020, 2021, 2036),
        async (months, offsets, year) => {
          const organizationId = organization();
          const visits = Array.from({ length: months }, (_, month) => {
            const day = new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);
            return { id: `v${month}`, organizationId, createdAt: `${day}T00:30:00${offsets[month]}` };
          });
          await store.insertVisits(accepted(visits, NOW));
          expect(await idsOf(organizationId)).to.have.length(months);
        },
      ),
      { numRuns: runs(8), examples: [[36, Array(60).fill('+02:00'), 2021]] },
    );
  }).timeout(120_000);

  it('fail for nobody else when several organizations insert many months at once', async () => {
    const organizationIds = [organization(), organization(), organization()];
    await Promise.all(
      organizationIds.map((organizationId) =>
        store.insertVisits(
          accepted(
            Array.from({ length: 36 }, (_, month) => ({
              id: `v${month}`,
              organizationId,
              createdAt: new Date(Date.UTC(2021, month, 2)).toISOString(),
            })),
            NOW,
          ),
        ),
      ),
    );
    for (const each of organizationIds) expect(await idsOf(each)).to.have.length(36);
  });

  describe('for a reason that nobody foresaw', () => {
    const visit = (organizationId: string, id: string, city = 'Rome') => ({
      organizationId,
      id,
      createdAt: '2026-03-01T00:00:00Z',
      city,
    });
    before(async () => {
      await store.insertVisits(accepted([visit(organization(), 'known')], NOW));
      // Code 395 says nothing about rows.
      await command(
        `ALTER TABLE website_visits ADD CONSTRAINT poison CHECK throwIf(ifNull(city, '') = '${POISON}') = 0`,
      );
    });
    const writer = () =>
      createRecordWriter('analytics', (records) =>
        store.insertVisits(records as Parameters<typeof store.insertVisits>[0]),
      );

    it('are divided by a worker until the refused record stands alone, which becomes a dead letter', async () => {
      const organizationId = organization();
      const records = Array.from({ length: 20 }, (_, index) =>
        visit(organizationId, `v${String(index).padStart(2, '0')}`, index === 7 ? POISON : 'Rome'),
      );
      const own = writer();
      const batch = accepted(records, NOW);
      expect(await own.writeWhole(batch, () => undefined)).to.equal('split');
      const rejected = await own.write(batch, () => undefined);
      expect(
        rejected.map(({ index, reason }) => [index, (reason as RecordRejectedError).code]),
      ).to.deep.equal([[7, 'not_storable']]);
      expect(await idsOf(organizationId)).to.have.length(19);
    });

    it('are a rejection also where the record comes alone, before anything else was written', async () => {
      const rejected = await writer().write(
        accepted([visit(organization(), 'v', POISON)], NOW),
        () => undefined,
      );
      expect(rejected[0]?.reason).to.be.instanceOf(RecordRejectedError);
    });

    it('name the record in the answer of an ingest', async () => {
      const organizationId = organization();
      const lines = ['Rome', POISON, 'Oslo'].map((city, index) => ({
        line: index + 1,
        bytes: Buffer.from(JSON.stringify(visit(organizationId, `v${index}`, city))),
      }));
      async function* source() {
        yield lines;
      }
      const stream: Stream = {
        ...(STREAMS['website-visits'] as Stream),
        store: 'analytics',
        refresh: undefined,
        write: (_, records) => store.insertVisits(records as Parameters<typeof store.insertVisits>[0]),
      };
      const result = await ingestRecords({
        stream,
        stores: { records: undefined as never, analytics: store },
        source: source(),
        acceptance: acceptedByLine({ now: () => NOW }),
      });
      expect(result).to.include({ accepted: 2, rejected: 1 });
      expect(result.errors[0]).to.include({ line: 2, code: 'not_storable' });
    });

    it('stay an outage while the table takes nothing at all', async () => {
      await command("ALTER TABLE website_visits ADD CONSTRAINT all CHECK throwIf(visit_id != '') = 0");
      try {
        const error = await writer()
          .write(accepted([visit(organization(), 'v')], NOW), () => undefined)
          .catch((reason: Error) => reason);
        expect(error).to.have.property('name', 'StoreUnavailableError');
      } finally {
        await command('ALTER TABLE website_visits DROP CONSTRAINT all');
      }
    });
  });
});
