import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Contact } from '../../services/contacts/schema.js';
import type { Page, SortKey } from '../../services/search/query.js';
import type { Json } from '../../services/shared/json.js';
import { StoreUnavailableError } from '../../services/shared/store-errors.js';
import { startTestGateway, type TestGateway, useGateway } from '../support/gateway.js';
import { brokenRules, expectRules } from '../support/problems.js';
import { until } from '../support/until.js';

const NDJSON = 'application/x-ndjson';
const CONTACTS = '/api/contacts/search';
const DAY = '2026-01-15';
const RANGE = { start_date: '2026-01-01', end_date: '2026-01-31' };
const many = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

/** Items per page of each list, and the request for the next page. */
const LISTS: {
  path: string;
  body?: object;
  items: string;
  page: object;
  next(answer: Record<string, unknown>): object | null;
}[] = [
  ...[
    { path: CONTACTS, items: 'contacts' },
    { path: CONTACTS, body: { query: 'ada' }, items: 'contacts' },
    { path: CONTACTS, body: { sort_by: 'last_name', sort_direction: 'desc' }, items: 'contacts' },
    { path: CONTACTS, body: { first_name: 'ada', sort_by: 'company_name' }, items: 'contacts' },
    { path: '/api/audiences/contacts/search', body: { audience_id: 'aud_1' }, items: 'contacts' },
    { path: '/api/website-visits/search', items: 'visits' },
  ].map((list) => ({
    ...list,
    page: { limit: 700 },
    next: ({ next_cursor: cursor }: Record<string, unknown>) => (cursor === null ? null : { cursor }),
  })),
  ...[
    { path: '/api/audiences/search', items: 'audiences', page: { limit: 200 } },
    {
      path: '/api/audiences/search',
      body: { include_counts: true },
      items: 'audiences',
      page: { limit: 200 },
    },
    { path: '/api/audiences/search', body: { query: 'name' }, items: 'audiences', page: { limit: 200 } },
    ...['campaigns', 'creatives', 'companies'].map((name) => ({
      path: `/api/advertising/network_a/${name}`,
      body: { ...RANGE, sort_by: 'clicks' },
      items: 'items',
      page: { page_size: 20 },
    })),
  ].map((list) => ({
    ...list,
    next: ({ page, [list.items]: items }: Record<string, unknown>) =>
      (items as unknown[]).length === 0 ? null : { page: (page as number) + 1 },
  })),
];

async function load({ ingest }: TestGateway): Promise<void> {
  const send = async (stream: string, count: number, record: (index: number) => object) => {
    const { body } = await ingest(stream, many(count, record));
    expect(body, stream).to.include({ accepted: count, rejected: 0 });
  };
  // All at the same moment, so that only ids tell where a page ends.
  const createdAt = '2026-01-15T10:00:00Z';
  await send('audiences', 1100, (index) => ({ id: `aud_${index}`, name: `Name ${index}` }));
  await send('contacts', 1200, (index) => ({
    contact_id: `con_${index}`,
    first_name: 'Ada',
    last_name: `L${index}`,
    work_emails: [`a${index}@x.example`, `b${index}@x.example`],
    audience_ids: index % 4 === 0 ? [] : ['aud_1'],
    created_at: createdAt,
  }));
  await send('website-visits', 1200, (index) => ({
    id: `v_${index}`,
    createdAt,
    hasRecording: !(index % 2),
  }));
  await send('network-a-campaigns', 45, (index) => ({ id: `cam_${index}`, daily_budget: '10.50' }));
  await send('network-a-creatives', 45, (index) => ({ id: `cre_${index}`, campaign_id: `cam_${index}` }));
  await send('network-a-companies', 45, (index) => ({ id: `cmp_${index}`, name: `Company ${index}` }));
  for (const [name, prefix] of [
    ['creative_id', 'cre'],
    ['company_id', 'cmp'],
  ] as const) {
    await send('network-a-deliveries', 45, (index) => ({
      ...{ date: DAY, campaign_id: `cam_${index}`, clicks: index % 7, impressions: 10 },
      [name]: `${prefix}_${index}`,
    }));
  }
}

async function pageByHand(gateway: TestGateway, { path, body, items, page, next }: (typeof LISTS)[number]) {
  const all: object[] = [];
  for (let place: object | null = {}; place !== null; ) {
    const answer = await gateway.call(path, { organization_id: 'org_a', ...body, ...page, ...place });
    expect(answer.status, answer.text).to.equal(200);
    all.push(...(answer.body[items] as object[]));
    place = next(answer.body);
  }
  return all;
}

describe('Export of every match', () => {
  const gateway = useGateway(load);
  const exported = (path: string, body: object = {}, accept = NDJSON) =>
    gateway.call(path, { organization_id: 'org_a', ...body }, { headers: { Accept: accept } });

  for (const list of LISTS) {
    it(`sends ${list.path} ${JSON.stringify(list.body ?? {})} as paging by hand does, as NDJSON and CSV`, async () => {
      const all = await pageByHand(gateway, list);
      expect(all.length).to.be.above(40);
      const ndjson = await exported(list.path, list.body);
      expect(ndjson.status, ndjson.text).to.equal(200);
      expect(ndjson.headers.get('Content-Type')).to.equal('application/x-ndjson; charset=utf-8');
      expect(ndjson.headers.get('X-Total-Count')).to.equal(String(all.length));
      expect(ndjson.text === all.map((item) => `${JSON.stringify(item)}\n`).join('')).to.equal(true);
      const csv = await exported(list.path, list.body, 'text/csv');
      expect(csv.headers.get('Content-Type')).to.equal('text/csv; charset=utf-8');
      const [heading, ...lines] = csv.text.split('\r\n');
      const { timeseries: _, ...columns } = all[0] as Record<string, unknown>;
      expect(heading).to.equal(Object.keys(columns).join(','));
      const ids = lines.slice(0, -1).map((line) => line.split(',')[0]);
      expect(ids).to.deep.equal(all.map((item) => (item as { id: string }).id));
    });
  }

  it('names the columns of a search that matches nothing', async () => {
    const { text, headers } = await exported(CONTACTS, { first_name: 'nobody' }, 'text/csv');
    expect(text).to.match(/^id,organization_id,.*,audience_ids,created_at,updated_at\r\n$/);
    expect(headers.get('X-Total-Count')).to.equal('0');
  });

  it('has the columns of CSV that the request asks for, whether anything matches or not', async () => {
    const columnsOf = async (body: object) =>
      (await exported('/api/advertising/network_a/campaigns', { ...RANGE, ...body }, 'text/csv')).text
        .split('\r\n', 1)[0]
        ?.split(',');
    const some = await columnsOf({ metrics: ['clicks'] });
    expect(some).to.include.members(['id', 'clicks', 'provisional']).and.not.include('impressions');
    expect(await columnsOf({ metrics: ['clicks'], campaign_ids: ['none'] })).to.deep.equal(some);
  });

  it('rejects fields that are about one page', async () => {
    const rules = (names: string[]) => names.map((name) => `/${name} not_in_export`);
    const page = { limit: 5, cursor: 'x', facets: ['country'], explain: true };
    const contacts = await exported(CONTACTS, page);
    expect(brokenRules(contacts)).to.have.members(rules(Object.keys(page)));
    expect(contacts.text).to.contain(
      'limit applies to one page, but CSV and NDJSON return all matches; leave it out.',
    );
    expectRules(await exported('/api/website-visits/search', { facets: ['day'] }), rules(['facets']));
    const ads = { ...RANGE, page: 2, page_size: 5 };
    const campaigns = await exported('/api/advertising/network_a/campaigns', ads, 'text/csv');
    expect(brokenRules(campaigns)).to.have.members(rules(['page', 'page_size']));
  });

  it('answers JSON where the client takes that as well, and 406 on operations that are no lists', async () => {
    for (const accept of ['*/*', 'application/json, text/csv;q=0.5', 'application/problem+json']) {
      expect((await exported(CONTACTS, {}, accept)).headers.get('Content-Type')).to.match(
        /^application\/json/,
      );
    }
    for (const [accept, type] of [
      ['application/ndjson', 'application/x-ndjson'],
      ['text/csv; header=present', 'text/csv'],
    ] as const) {
      const { headers } = await exported(CONTACTS, { query: 'nobody' }, accept);
      expect(headers.get('Content-Type'), accept).to.equal(`${type}; charset=utf-8`);
    }
    for (const accept of ['text/html', 'text/csv; header=absent'])
      expect((await exported(CONTACTS, {}, accept)).body.code, accept).to.equal('not_acceptable');
    const get = await exported('/api/contacts/get', { contact_id: 'con_1' }, 'text/csv');
    expect(get.body.code).to.equal('not_acceptable');
  });

  it('answers a problem where the first page fails', async () => {
    const { status, body } = await exported('/api/audiences/contacts/search', { audience_id: 'missing' });
    expect(status).to.equal(404);
    expect(body.code).to.equal('audience_not_found');
  });

  it('quotes cells, joins lists by semicolons and puts an apostrophe before formulas', async () => {
    const record = {
      contact_id: 'con_special',
      first_name: '=1+1',
      last_name: 'a "b", c',
      phones: ['+49 30 1', '2'],
      job_title: "'=x",
      postal_code: '-12.5',
      city: '@home',
      state_region: '\uff1d1+1',
      age: 30,
    };
    await gateway.ingest('contacts', [record], { key: await gateway.keyFor('org_csv') });
    const key = await gateway.keyFor('org_csv');
    const { text } = await gateway.call(
      CONTACTS,
      { organization_id: 'org_csv' },
      { key, headers: { Accept: 'text/csv' } },
    );
    for (const cell of [
      `'=1+1,"a ""b"", c"`,
      `'+49 30 1;2`,
      `''=x`,
      ',-12.5,',
      `'@home`,
      ',30,',
      `'\uff1d1+1`,
    ]) {
      expect(text).to.include(cell);
    }
  });
});

describe('Lists for network_a', () => {
  const gateway = useGateway(async ({ ingest }) => {
    const person = {
      company_name: 'Bücher GmbH',
      company_domain: 'WWW.Bücher.example',
      country: 'Deutschland',
    };
    await ingest('contacts', [
      {
        ...{ contact_id: 'con_1', first_name: 'Ada', last_name: 'Lovelace', job_title: 'Analyst, "A"' },
        ...{ ...person, company_industry: 'Books', audience_ids: ['aud_1'] },
        ...{ work_emails: [' Ada@Example.COM '], personal_emails: ['ada@example.com', 'ada@home.example'] },
      },
      {
        contact_id: 'con_2',
        first_name: 'Grace',
        last_name: 'Hopper',
        company_name: 'ACME Inc',
        country: 'xx',
      },
      { contact_id: 'con_3', first_name: 'Alan', company_name: 'acme  INC', audience_ids: ['aud_1'] },
      { contact_id: 'con_4', company_domain: 'xn--bcher-kva.example', company_name: 'Other name' },
      { contact_id: 'con_5', first_name: 'Kurt', last_name: 'Gödel' },
    ]);
    await ingest('audiences', [{ id: 'aud_1', name: 'One' }]);
  });
  const list = async (path: string, profile: string, body: object = {}) => {
    const request = { organization_id: 'org_a', ...body };
    const headers = { Accept: `text/csv; profile=${profile}` };
    const response = await gateway.call(path, request, { headers });
    expect(response.status, response.text).to.equal(200);
    expect(response.headers.get('Content-Type')).to.equal('text/csv; charset=utf-8');
    const [heading, ...rows] = response.text.trimEnd().split('\r\n');
    return { heading, rows: rows.sort() };
  };

  it('have a row for each email as its hash, and contacts without an email by both names', async () => {
    const { heading, rows } = await list(CONTACTS, 'network-a-contacts');
    expect(heading).to.equal('email,firstname,lastname,jobtitle,employeecompany,country,googleaid');
    const ada = 'Ada,Lovelace,"Analyst, ""A""",Bücher GmbH,DE,';
    expect(rows).to.deep.equal([
      ',Grace,Hopper,,ACME Inc,,',
      ',Kurt,Gödel,,,,',
      // SHA-256 of ada@home.example and ada@example.com.
      `b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72,${ada}`,
      `c6a69124dbb05076e1caee5f32e7cd0e5e1efe31402125e234ceb981998a39b7,${ada}`,
    ]);
    const audience = { audience_id: 'aud_1' };
    const members = await list('/api/audiences/contacts/search', 'network-a-contacts', audience);
    expect(members.rows).to.deep.equal(rows.slice(2));
  });

  it('have a row for each company, by its domain or its name', async () => {
    const { heading, rows } = await list(CONTACTS, 'network-a-companies');
    expect(heading).to.match(/^companyname,companywebsite,companyemaildomain,/);
    expect(rows).to.have.length(2);
    expect(rows.filter((row) => /^(ACME Inc|acme {2}INC),,,,,,,,,$/.test(row))).to.have.length(1);
    const byDomain = /^(Bücher GmbH|Other name),bücher.example,bücher.example,,,(Books)?,,,,$/;
    expect(rows.filter((row) => byDomain.test(row))).to.have.length(1);
    const one = await list(CONTACTS, 'network-a-companies', { first_name: 'ada' });
    expect(one.rows).to.deep.equal(['Bücher GmbH,bücher.example,bücher.example,,,Books,,,,']);
  });

  it('are refused by lists of other things, and where their name is unknown', async () => {
    for (const [path, profile] of [
      [CONTACTS, 'network-b-contacts'],
      ['/api/website-visits/search', 'network-a-contacts'],
    ] as const) {
      const headers = { Accept: `text/csv; profile=${profile}` };
      const { status, body } = await gateway.call(path, { organization_id: 'org_a' }, { headers });
      expect(status).to.equal(406);
      expect(body.code).to.equal('not_acceptable');
    }
  });
});

describe('Export under load and failure', () => {
  const TIMEOUT_MS = 1000;
  let gateway: TestGateway;
  let search: (after: SortKey | undefined, signal?: AbortSignal) => Promise<Page<Json<Contact>>>;
  let pages = 0;
  before(async () => {
    gateway = await startTestGateway({ requestTimeoutMs: TIMEOUT_MS });
    gateway.stores.records.searchContacts = ({ after }, request) => {
      pages++;
      return search(after, request?.signal);
    };
  });
  after(() => gateway.close());
  beforeEach(() => {
    pages = 0;
  });

  const page = (index: number, last = Number.POSITIVE_INFINITY): Page<Json<Contact>> => ({
    items: many(1000, (item) => JSON.stringify({ id: `con_${index}_${item}`, first_name: 'x'.repeat(500) })),
    total: 5000,
    next: index >= last ? null : { rank: 0, createdAt: index + 1, id: 'x' },
  });
  const indexOf = (after: SortKey | undefined) => after?.createdAt ?? 0;

  const openFor = async (body: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(`${gateway.url}${CONTACTS}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Api-Key': gateway.key, Accept: NDJSON, ...headers },
      body: JSON.stringify({ organization_id: 'org_a', ...body }),
      signal,
    });

  const untilNoneRuns = async () => {
    // A scrape may be this old.
    await sleep(1100);
    await until(async () => {
      const { text } = await gateway.call('/metrics', undefined, { method: 'GET' });
      return text.includes('\nreachline_exports_running 0\n');
    }, 'no export runs');
  };

  it('takes longer than the time of a request as long as it progresses', async () => {
    search = async (after) => {
      await sleep(TIMEOUT_MS / 4);
      return page(indexOf(after), 5);
    };
    const text = await (await openFor({})).text();
    expect(text.split('\n')).to.have.length(6001);
  });

  it('destroys the connection when a store fails after the first page', async () => {
    search = async (after) => {
      if (indexOf(after) === 1) throw new StoreUnavailableError('records');
      return page(indexOf(after));
    };
    for (const encoding of ['identity', 'gzip']) {
      const response = await openFor({}, { 'Accept-Encoding': encoding });
      expect(response.status).to.equal(200);
      const failure = await response.text().catch((error: unknown) => error);
      expect(failure, encoding).to.be.instanceOf(TypeError);
    }
  });

  it('destroys the connection when a later page takes longer than the time of a request', async () => {
    search = (after) => (indexOf(after) === 0 ? Promise.resolve(page(0)) : new Promise(() => undefined));
    const failure = await (await openFor({})).text().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(TypeError);
  });

  it('stops when the client leaves', async () => {
    let aborted = 0;
    search = async (after, signal) => {
      signal?.addEventListener('abort', () => aborted++, { once: true });
      await sleep(20);
      return page(indexOf(after));
    };
    const controller = new AbortController();
    const response = await openFor({}, {}, controller.signal);
    await response.body?.getReader().read();
    controller.abort();
    await untilNoneRuns();
    const before = pages;
    await sleep(100);
    expect(pages).to.equal(before);
    expect(aborted).to.equal(pages);
  });

  it('reads no further ahead than the client, and ends one that never reads', async function () {
    this.timeout(20_000);
    search = async (after) => page(indexOf(after));
    const { port, hostname } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.pause();
    const body = '{"organization_id":"org_a"}';
    socket.write(
      `POST ${CONTACTS} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${gateway.key}\r\nAccept: ${NDJSON}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => pages > 0, 'a page was read');
    await untilNoneRuns();
    expect(pages).to.be.below(40);
    const ended = once(socket, 'close');
    socket.on('error', () => undefined);
    socket.resume();
    await ended;
  });

  it('runs two exports of an organization at once, and lets other requests through', async () => {
    let proceed: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    search = async (after) => {
      if (after) await held;
      return page(indexOf(after));
    };
    const controller = new AbortController();
    await Promise.all(many(2, () => openFor({}, {}, controller.signal)));
    const rejected = await openFor({});
    expect(rejected.status).to.equal(503);
    expect(await rejected.json()).to.include({ code: 'overloaded' });
    search = async () => page(0, 0);
    expect((await gateway.call(CONTACTS, { organization_id: 'org_a' })).status).to.equal(200);
    controller.abort();
    proceed();
    const isTaken = async () => {
      const answer = await openFor({});
      await answer.text();
      return answer.status === 200;
    };
    // Waits for both places, because the next test needs one too.
    const isFree = async () => (await Promise.all(many(2, isTaken))).every(Boolean);
    await until(isFree, 'exports that were left no longer count');
  });

  it('passes compressed chunks on at once', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    search = async (after) => {
      if (indexOf(after) > 0) await released;
      return page(indexOf(after), 1);
    };
    const response = await openFor({}, { 'Accept-Encoding': 'gzip' });
    expect(response.headers.get('Content-Encoding')).to.equal('gzip');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (text.split('\n').length <= 1000) text += (await reader?.read())?.value ?? '';
    release();
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      text += part.value;
    expect(text.split('\n')).to.have.length(2001);
  });
});
