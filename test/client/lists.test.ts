import { expect } from 'chai';
import { type Client, createClient, type PagedPath } from '../../services/client/index.js';
import { endpoints } from '../../services/gateway/api.js';
import { useGateway } from '../support/gateway.js';

const range = { start_date: '2026-10-01', end_date: '2026-10-31' };
/** Fields that each list needs in its request, besides its page size. */
const BODIES: Record<PagedPath, object> = {
  '/api/contacts/erasures': {},
  '/api/contacts/search': { query: 'marketing' },
  '/api/audiences/contacts/search': { audience_id: 'aud' },
  '/api/audiences/search': {},
  '/api/website-visits/search': {},
  '/api/advertising/network_a/campaigns': range,
  '/api/advertising/network_a/creatives': range,
  '/api/advertising/network_a/companies': range,
  '/api/advertising/network_a/influence': { ...range, thresholds: { impressions: 1 } },
  '/api/companies/search': range,
  '/api/advertising/network_a/records': { stream: 'network-a-campaigns' },
  '/api/keys/list': {},
  '/api/rejections/list': {},
};
const paths = Object.keys(BODIES) as PagedPath[];

describe('The lists of the client', function () {
  this.timeout(60_000);
  let client: Client;
  useGateway(async (opened) => {
    client = createClient({ url: opened.url, apiKey: opened.key });
    const three = [1, 2, 3];
    await client.ingest('audiences', [
      { id: 'aud', name: 'One' },
      { id: 'two', name: 'Two' },
    ]);
    await client.ingest(
      'contacts',
      three.map((n) => ({ contact_id: `c${n}`, job_title: 'Marketing', audience_ids: ['aud'] })),
    );
    const createdAt = '2026-10-02T09:00:00Z';
    await client.ingest(
      'website-visits',
      three.map((n) => ({ id: `v${n}`, createdAt, companyDomain: `company${n}.example` })),
    );
    await client.ingest(
      'network-a-campaigns',
      three.map((n) => ({ id: `cam${n}`, name: `Campaign ${n}` })),
    );
    await client.ingest(
      'network-a-creatives',
      three.map((n) => ({ id: `cre${n}`, campaign_id: 'cam1', name: `Creative ${n}` })),
    );
    await client.ingest(
      'network-a-companies',
      three.map((n) => ({ id: `co${n}`, domain: `co${n}.example` })),
    );
    await client.ingest(
      'network-a-deliveries',
      three.map((n) => ({
        ...{ date: '2026-10-05', campaign_id: 'cam1' },
        company_id: `co${n}`,
        impressions: n,
      })),
    );
    await client.call('/api/contacts/erase', { contact_id: 'nobody' });
    await client.call('/api/contacts/erase', { email: 'nobody@mail.example' });
    await client.call('/api/keys/create', { scopes: ['visits:read'] });
    await client.ingest('contacts', [{ age: -1 }, { age: -2 }] as never[]);
  });

  it('are those of every operation that lists something', () => {
    expect(paths).to.have.members(endpoints.filter(({ list }) => list).map(({ path }) => path));
  });

  for (const path of paths) {
    it(`yield each item of ${path} once, page by page`, async () => {
      const size =
        /\/(?:advertising|companies)\//.test(path) && !path.endsWith('/records') ? 'page_size' : 'limit';
      const body = { ...BODIES[path], [size]: 1 } as never;
      let first: { total_count: number } | undefined;
      for await (const page of client.pages(path, body)) {
        first = page;
        break;
      }
      const items: object[] = [];
      for await (const item of client.items(path, body)) items.push(item as object);
      expect(items)
        .to.have.length(first?.total_count as number)
        .above(1);
      expect(new Set(items.map((item) => JSON.stringify(item))).size).to.equal(items.length);
    });
  }

  it('do not compile, and throw, for an operation that answers no list', async () => {
    // @ts-expect-error It goes on by a cursor, and lists nothing.
    const none = client.items('/api/audiences/contacts/add-many', {
      audience_id: 'aud_newsletter',
      filter: {},
    });
    const failed = none.next().then(
      () => expect.fail('it yields'),
      (error: Error) => error,
    );
    expect(await failed).to.be.instanceOf(TypeError);
  });
});
