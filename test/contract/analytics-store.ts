import { expect } from 'chai';
import fc from 'fast-check';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import type { DeliveryRecord } from '../../services/advertising/records.js';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import { accepted } from '../support/accepted.js';
import { Random, runs } from '../support/random.js';
import { rawSql } from '../support/raw-sql.js';
import { until } from '../support/until.js';
import { deliveryRetention } from './delivery-retention.js';
import { assertForTwoWriters, batchesOf, KEYS, lastOfEach, spokenOf, withFields } from './record-order.js';

/** Number of cases per property. */
const RUNS = runs(3);

const ENTITIES = ['campaigns', 'companies', 'creatives'];

export interface OpenedStore {
  store: AnalyticsStore;
  dispose(): Promise<void>;
}

interface Stored {
  impressions: number;
  ad_spend: string;
}

/** The contract of every analytics store, embedded or over HTTP. */
export function analyticsStoreContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(`analytics store (${name})`, () => {
    let store: AnalyticsStore;
    let dispose: () => Promise<void>;

    before(async () => {
      ({ store, dispose } = await open());
    });
    after(() => dispose());

    const deliveriesOf = async (organizationId: string, table = 'creative_deliveries') => {
      const { rows } = await store.query<Stored>({
        name: 'test',
        sql: rawSql(
          `SELECT impressions, ad_spend FROM ${table} FINAL WHERE organization_id = {organization:String} AND campaign_id != '' ORDER BY date, campaign_id, creative_id, company_id`,
        ),
        params: { organization: organizationId },
      });
      return rows;
    };
    const namesIn = async (table: string, organization: string) => {
      const sql = `SELECT name FROM ${table} FINAL WHERE organization_id = {organization:String} ORDER BY id`;
      const { rows } = await store.query<{ name: string }>({
        name: 'test',
        sql: rawSql(sql),
        params: { organization },
      });
      return rows.map(({ name }) => name);
    };
    const delivery = (fields: Partial<DeliveryRecord>): DeliveryRecord => ({
      organization_id: 'org',
      date: '2026-10-01',
      campaign_id: 'c',
      creative_id: 'r',
      ...fields,
    });

    it('binds every value exactly as given', async () => {
      const values = [
        "it's",
        '\\',
        "\\'; DROP TABLE deliveries; --",
        'tab\tline\nreturn\r',
        'é 漢 🎉',
        '',
        '{x:String}',
        '%_',
      ];
      for (const value of values) {
        const { rows } = await store.query<{ one: string; many: string[] }>({
          name: 'test',
          sql: rawSql('SELECT {one:String} AS one, {many:Array(String)} AS many'),
          params: { one: value, many: [value, ...values] },
        });
        expect(rows).to.deep.equal([{ one: value, many: [value, ...values] }]);
      }
    });

    it('binds numbers and empty lists', async () => {
      const { rows } = await store.query({
        name: 'test',
        sql: rawSql('SELECT {count:UInt64} AS count, {none:Array(String)} AS none'),
        params: { count: 9007199254740991, none: [] },
      });
      expect(rows).to.deep.equal([{ count: 9007199254740991, none: [] }]);
    });

    it('keeps values apart when queries run at the same time', async () => {
      const answers = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          const { rows } = await store.query<{ value: string }>({
            name: 'test',
            sql: rawSql('SELECT {value:String} AS value FROM numbers(3)'),
            params: { value: `value ${index}` },
          });
          return rows.map(({ value }) => value);
        }),
      );
      answers.forEach((values, index) => {
        expect(values).to.deep.equal(Array(3).fill(`value ${index}`));
      });
    });

    it('counts the rows before the limit, also past the end', async () => {
      const query = {
        name: 'test',
        sql: rawSql('SELECT number FROM numbers(1234) ORDER BY number LIMIT 10 OFFSET {offset:UInt64}'),
      };
      expect(await store.query({ ...query, params: { offset: 1230 } })).to.deep.include({ total: 1234 });
      expect(await store.query({ ...query, params: { offset: 5000 } })).to.deep.equal({
        rows: [],
        total: 1234,
      });
    });

    it('keeps money exactly, from text and from numbers', async () => {
      const amounts: (string | number)[] = [
        '99999999999999999999999999.999999999999',
        0.1,
        1e-7,
        1e21,
        '0.000000000001',
        12.5,
        0,
      ];
      await store.insertDeliveries(
        accepted(
          amounts.map((ad_spend, index) =>
            delivery({ organization_id: 'org_money', campaign_id: `c${index}`, ad_spend }),
          ),
          1,
        ),
      );
      expect((await deliveriesOf('org_money')).map(({ ad_spend }) => ad_spend)).to.deep.equal([
        '99999999999999999999999999.999999999999',
        '0.1',
        '0.0000001',
        '1000000000000000000000',
        '0.000000000001',
        '12.5',
        '0',
      ]);
    });

    let orders = 0;
    /** Records of one kind in any order: the last record of each `key` stays; the statements read its `shown` in the order of the keys. */
    const itKeepsTheLast = <T extends object>(
      what: string,
      record: fc.Arbitrary<T>,
      [key, shown]: [key: keyof T, shown: keyof T],
      write: (batch: OrderedRecord<T & { organization_id: string }>[]) => Promise<unknown>,
      read: (organizationId: string) => Promise<unknown[][]>,
    ) =>
      it(`shows the last ${what}, whatever order records are written in, twice and by two writers`, () =>
        assertForTwoWriters(
          record,
          async (records, batches) => {
            const organization_id = `org_any_order_${++orders}`;
            await Promise.all(
              batches.map(async (own) => {
                for (const batch of own) await write(withFields(batch, { organization_id }));
              }),
            );
            const last = [...lastOfEach(records, key)].sort(([one], [other]) => (one < other ? -1 : 1));
            const expected = last.map(([, ordered]) => ordered.record[shown]);
            for (const actual of await read(organization_id)) expect(actual).to.deep.equal(expected);
          },
          RUNS,
        ));

    itKeepsTheLast(
      'report of a row',
      fc.record({
        campaign_id: fc.constantFrom(...KEYS),
        impressions: fc.nat(1_000_000),
        reported_at: spokenOf,
      }),
      ['campaign_id', 'impressions'],
      (batch) =>
        store.insertDeliveries(
          batch.map((ordered) => ({ ...ordered, record: delivery({ ...ordered.record, company_id: 'o' }) })),
        ),
      async (organizationId) =>
        Promise.all(
          ['creative_deliveries', 'company_deliveries'].map(async (table) =>
            (await deliveriesOf(organizationId, table)).map(({ impressions }) => impressions),
          ),
        ),
    );
    itKeepsTheLast(
      'record of an entity',
      fc.record({
        id: fc.constantFrom(...KEYS),
        name: fc.constantFrom('North', 'South', 'East'),
        updated_at: spokenOf,
      }),
      ['id', 'name'],
      async (batch) => {
        await store.insertCampaigns(batch);
        await store.insertCompanies(batch);
        await store.insertCreatives(withFields(batch, { campaign_id: 'c' }));
      },
      (organizationId) => Promise.all(ENTITIES.map((table) => namesIn(table, organizationId))),
    );
    itKeepsTheLast(
      'rate of a currency and day',
      fc.record({
        currency: fc.constantFrom('USD', 'GBP'),
        per_eur: fc.constantFrom('0.85', '1.0867', '2', '0.000000000001'),
        updated_at: spokenOf,
      }),
      ['currency', 'per_eur'],
      (batch) => store.insertCurrencyRates(withFields(batch, { date: '2026-10-01' })),
      async (organization) => {
        const { rows } = await store.query<{ per_eur: string }>({
          name: 'test',
          sql: rawSql(
            'SELECT per_eur FROM currency_rates FINAL WHERE organization_id = {organization:String} ORDER BY currency',
          ),
          params: { organization },
        });
        return [rows.map(({ per_eur }) => per_eur)];
      },
    );

    it('shows the same after all batches at once as after one by one', async () => {
      const stateAfter = async (organization_id: string, isAtOnce: boolean) => {
        const random = new Random(1);
        const entities = batchesOf([50, 1001, 3], (index) => ({
          organization_id,
          id: `often${random.below(10)}`,
          name: `Name ${index}`,
        }));
        const deliveries = batchesOf([50, 1001, 3], (index) =>
          delivery({
            organization_id,
            company_id: 'o',
            campaign_id: `c${random.below(10)}`,
            impressions: index,
          }),
        );
        const writes = [
          ...entities.map((batch) => () => store.insertCampaigns(batch)),
          ...entities.map((batch) => () => store.insertCompanies(batch)),
          ...entities.map((batch) => () => store.insertCreatives(withFields(batch, { campaign_id: 'c' }))),
          ...deliveries.map((batch) => () => store.insertDeliveries(batch)),
        ];
        if (isAtOnce) await Promise.all(writes.map((write) => write()));
        else for (const write of writes) await write();
        const names = await Promise.all(ENTITIES.map((table) => namesIn(table, organization_id)));
        return [await deliveriesOf(organization_id), ...names];
      };
      expect(await stateAfter('org_at_once', true)).to.deep.equal(await stateAfter('org_one_by_one', false));
    });

    it('takes a batch over 40 months in writes of at most 36', async () => {
      const batch = Array.from({ length: 80 }, (_, month) =>
        delivery({
          organization_id: 'org_months',
          date: new Date(Date.UTC(1990, (month * 7) % 40, 1)).toISOString().slice(0, 10),
          campaign_id: `c${month % 2}`,
          company_id: 'o',
          impressions: month,
        }),
      );
      await store.insertDeliveries(accepted(batch, 1));
      for (const table of ['creative_deliveries', 'company_deliveries']) {
        const expected = new Map(
          batch.map((record) => [`${record.date} ${record.campaign_id}`, record.impressions]),
        );
        const rows = await deliveriesOf('org_months', table);
        const sum = (counts: Iterable<number | null | undefined>) =>
          [...counts].reduce<number>((total, count) => total + (count ?? 0), 0);
        expect(rows).to.have.length(expected.size);
        expect(sum(rows.map(({ impressions }) => impressions))).to.equal(sum(expected.values()));
      }
    });

    it('replaces an entity whole, and only by a newer record', async () => {
      const campaign = { organization_id: 'org_entity', id: 'c' };
      const nameOf = async () => {
        const { rows } = await store.query<{ name: string | null; currency: string | null }>({
          name: 'test',
          sql: rawSql('SELECT name, currency FROM campaigns FINAL WHERE organization_id = {o:String}'),
          params: { o: 'org_entity' },
        });
        return rows;
      };
      await store.insertCampaigns(
        accepted([{ ...campaign, name: 'new', currency: 'EUR', updated_at: '2026-10-02T00:00:00Z' }], 1),
      );
      await store.insertCampaigns(
        accepted([{ ...campaign, name: 'old', updated_at: '2026-10-01T23:59:59.999Z' }], 1),
      );
      expect(await nameOf()).to.deep.equal([{ name: 'new', currency: 'EUR' }]);
      await store.insertCampaigns(
        accepted([{ ...campaign, name: 'newest', updated_at: '2026-10-03T00:00:00+02:00' }], 1),
      );
      expect(await nameOf()).to.deep.equal([{ name: 'newest', currency: null }]);
    });

    it('keeps text with any character', async () => {
      const name = 'a\tb\nc\\d\r"\'\\N é 🎉';
      await store.insertCompanies(
        accepted([{ organization_id: 'org_text', id: 'o', name, domain: 'WWW.Example.COM.' }], 1),
      );
      const { rows } = await store.query({
        name: 'test',
        sql: rawSql("SELECT name, domain FROM companies FINAL WHERE organization_id = 'org_text'"),
        params: {},
      });
      expect(rows).to.deep.equal([{ name, domain: 'example.com' }]);
    });

    it('accepts an empty batch', async () => {
      await store.insertDeliveries(accepted([], 1));
      await store.insertCampaigns(accepted([], 1));
    });

    it('rejects a query that binds too little', async () => {
      const query = store.query({ name: 'forgetful', sql: rawSql('SELECT {value:String}'), params: {} });
      expect(await query.catch((error: Error) => error.message)).to.contain('binds no value');
    });

    it('says it is unavailable when a table is missing', async () => {
      const query = store.query({ name: 'test', sql: rawSql('SELECT * FROM nowhere'), params: {} });
      expect(await query.catch((error: Error) => error.name)).to.equal('StoreUnavailableError');
    });

    it('ends the wait and the computation of a query whose caller aborts, and answers others meanwhile', async () => {
      const abort = new AbortController();
      const slow = store.query(
        {
          name: 'left',
          sql: rawSql('SELECT sum(cityHash64(number, 77)) FROM numbers(1000000000000)'),
          params: {},
        },
        abort.signal,
      );
      const failed = slow.catch((error: Error) => error.message);
      const running = async () => {
        const { rows } = await store.query<{ count: number }>({
          name: 'test',
          sql: rawSql(
            "SELECT count() AS count FROM system.processes WHERE query LIKE '%(number, 77)%' AND query NOT LIKE '%processes%'",
          ),
          params: {},
        });
        return rows[0]?.count;
      };
      await until(async () => (await running()) !== 0, 'the query runs');
      abort.abort(new Error('the client left'));
      expect(await failed).to.equal('the client left');
      await until(async () => (await running()) === 0, 'the query has ended');
      // Far less than the limit after which the store ends a query.
    }).timeout(15_000);

    it('answers ping', () => store.ping());

    deliveryRetention(() => store);
  });
}
