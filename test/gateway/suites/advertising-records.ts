import { expect } from 'chai';
import fc from 'fast-check';
import { gatewaySuite, type TestGateway, useGateway } from '../../support/gateway.js';
import { runs, SEED } from '../../support/random.js';

const RECORDS = '/api/advertising/network_a/records';
type Item = Record<string, unknown>;

/** Every item of a stream, page by page, and the length of each page. Fails if a page begins where another page began. */
async function allItems(
  { call }: Pick<TestGateway, 'call'>,
  body: { organization_id: string; stream: string; limit: number },
  key: string,
  between: (page: number) => Promise<unknown> = async () => undefined,
): Promise<Item[]> {
  const items: Item[] = [];
  const seen = new Set<string>();
  let cursor: string | null = null;
  for (let page = 0; ; page++) {
    const answer = await call(RECORDS, { ...body, ...(cursor !== null && { cursor }) }, { key });
    expect(answer.status, answer.text).to.equal(200);
    const found = answer.body as { items: Item[]; next_cursor: string | null };
    expect(found.items.length).to.be.at.most(body.limit);
    items.push(...found.items);
    cursor = found.next_cursor;
    if (cursor === null) return items;
    expect(seen.has(cursor), `page ${page} ends where another one ended`).to.equal(false);
    seen.add(cursor);
    await between(page);
  }
}

const id = fc.constantFrom('0', '00', '-', '.', ':', 'A', 'a', 'a.0', 'a-1', 'zz', 'Z'.repeat(128));
const day = fc.constantFrom('2026-01-31', '2026-02-01', '2026-02-02', '2025-12-31');
const delivery = fc
  .record({
    date: day,
    campaign_id: id,
    creative_id: fc.option(id, { nil: undefined }),
    company_id: fc.option(id, { nil: undefined }),
    impressions: fc.nat(3),
    ad_spend: fc.constantFrom('0', '0.5', '1.250000000001'),
  })
  .filter(({ creative_id, company_id }) => creative_id !== undefined || company_id !== undefined);
const keyOf = ({ date, campaign_id, creative_id, company_id }: Item) =>
  [date, campaign_id, creative_id ?? '', company_id ?? ''].join(' ');

/** The record as the list returns it: metrics that are 0 are left out. */
const shown = ({ impressions, ad_spend, creative_id, company_id, ...rest }: Item): Item => ({
  ...rest,
  ...(creative_id !== undefined && { creative_id }),
  ...(company_id !== undefined && { company_id }),
  ...(impressions !== 0 && { impressions }),
  ...(ad_spend !== '0' && { ad_spend }),
});

export const advertisingRecords = gatewaySuite('Records of an advertising stream', (start) => {
  const gateway = useGateway(undefined, start);
  let organizations = 0;
  const organization = async () => {
    const organization_id = `org_records_${organizations++}`;
    return { organization_id, key: await gateway.keyFor(organization_id) };
  };

  it(`are listed once each, in order, whatever was restated and however long a page is (seed ${SEED})`, async () => {
    const histories = fc.array(fc.array(delivery, { minLength: 1, maxLength: 6 }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 1, max: 5 }), async (history, limit) => {
        const { organization_id, key } = await organization();
        const last = new Map<string, Item>();
        for (const [index, records] of history.entries()) {
          // Each request changes a record only once, because rows of one moment are ordered within the request.
          const reported_at = `2026-03-0${index + 1}T00:00:00.000Z`;
          const written = records.map((record) => ({ ...record, reported_at }));
          const took = await gateway.ingest('network-a-deliveries', written, { key });
          expect(took.body, took.text).to.include({ rejected: 0 });
          for (const record of written) last.set(keyOf(record), { organization_id, ...record });
        }
        const expected = [...last].sort(([one], [other]) => (one < other ? -1 : 1));
        const body = { organization_id, stream: 'network-a-deliveries', limit };
        expect(await allItems(gateway, body, key)).to.deep.equal(expected.map(([, item]) => shown(item)));
      }),
      { numRuns: runs(3), seed: SEED },
    );
  });

  it('keep every text as it was given', async () => {
    const texts = ['0', 'null', "it's", '\\', '"', 'a\nb', '=1+1', '{x:String}', '漢🎉', 'x'.repeat(1024)];
    const entities: Record<string, (text: string, index: number) => Item> = {
      'network-a-campaigns': (text) => ({ name: text, account_id: text, daily_budget: '0', currency: 'EUR' }),
      'network-a-creatives': (text) => ({
        campaign_id: '0',
        name: text,
        headline: text,
        landing_page_url: text,
      }),
      'network-a-companies': (text) => ({ name: text, industry: text }),
    };
    for (const [stream, fieldsOf] of Object.entries(entities)) {
      const { organization_id, key } = await organization();
      const records = texts.map((text, index) => ({
        ...{ organization_id, id: String(index).padStart(2, '0'), ...fieldsOf(text, index) },
        updated_at: '2026-03-01T00:00:00.000123Z',
      }));
      const took = await gateway.ingest(stream, records, { key });
      expect(took.body, took.text).to.include({ rejected: 0 });
      expect(await allItems(gateway, { organization_id, stream, limit: 9 }, key)).to.deep.equal(records);
    }
  });

  it('that nobody changes are listed once while others change, and a copy of them has the same records', async () => {
    const { organization_id, key } = await organization();
    const other = await organization();
    const stream = 'network-a-deliveries';
    const rows = Array.from({ length: 60 }, (_, index) => ({
      ...{ date: `2026-02-0${1 + (index % 6)}`, campaign_id: `c${index % 5}`, creative_id: `k${index % 4}` },
      ...{ impressions: 1 + index, reported_at: '2026-03-01T00:00:00Z' },
    }));
    await gateway.ingest(stream, rows, { key });
    const isChanged = ({ campaign_id }: Item) => campaign_id === 'c3' || campaign_id === 'new';
    const items = await allItems(gateway, { organization_id, stream, limit: 17 }, key, async (page) => {
      const reported_at = `2026-03-0${2 + (page % 7)}T00:00:00Z`;
      const restated = rows
        .filter(isChanged)
        .map((row) => ({ ...row, impressions: 1000 + page, reported_at }));
      const added = {
        date: `2026-02-0${1 + (page % 6)}`,
        campaign_id: 'new',
        creative_id: `k${page}`,
        clicks: 1,
      };
      await gateway.ingest(stream, [...restated, added], { key });
    });
    const keys = items.filter((item) => !isChanged(item)).map(keyOf);
    expect(keys).to.deep.equal([...new Set(rows.filter((row) => !isChanged(row)).map(keyOf))].sort());
    const now = await allItems(gateway, { organization_id, stream, limit: 1000 }, key);
    const took = await gateway.ingest(
      stream,
      now.map(({ organization_id: _, ...record }) => record),
      { key: other.key },
    );
    expect(took.body, took.text).to.include({ accepted: now.length, rejected: 0 });
    const copy = await allItems(
      gateway,
      { organization_id: other.organization_id, stream, limit: 13 },
      other.key,
    );
    expect(copy).to.deep.equal(now.map((item) => ({ ...item, organization_id: other.organization_id })));
  });

  it('of another organization are refused, and so is what is no stream', async () => {
    const { key } = await organization();
    const refused = await gateway.call(
      RECORDS,
      { organization_id: 'org_records_0', stream: 'network-a-deliveries' },
      { key },
    );
    expect(refused.status, refused.text).to.equal(403);
    for (const stream of [
      'contacts',
      "network-a-deliveries'",
      '__proto__',
      'x\u0000',
      null,
      ['network-a-deliveries'],
    ]) {
      const answer = await gateway.call(RECORDS, { stream }, { key });
      expect(answer.status, JSON.stringify(stream)).to.equal(422);
      expect((answer.body.errors as Item[])[0]).to.include({ pointer: '/stream' });
    }
  });
});
