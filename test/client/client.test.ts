import { expect } from 'chai';
import {
  AuthenticationProblem,
  type Client,
  ConflictProblem,
  ConnectionError,
  createClient,
  InsufficientCreditsProblem,
  NotFoundProblem,
  PermissionProblem,
  RateLimitProblem,
  ReachlineProblem,
  UnavailableProblem,
  ValidationProblem,
} from '../../services/client/index.js';
import { startGateway } from '../../services/gateway/server.js';
import { loadConfig } from '../../services/shared/config.js';
import { createLogger } from '../../services/shared/logger.js';
import { useGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { type Fault, startProxy } from './proxy.js';

const fail = async (work: Promise<unknown>): Promise<ReachlineProblem> =>
  work.then(
    () => expect.fail('it did not throw'),
    (error: unknown) => error as ReachlineProblem,
  );

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ contact_id: `c${index}`, first_name: `Ada ${index}` }));

describe('The client', function () {
  this.timeout(30_000);
  const gateway = useGateway();
  let client: Client;
  before(async () => {
    client = createClient({ url: gateway.url, apiKey: gateway.key });
    await client.ingest('audiences', [
      { id: 'aud_a', name: 'First' },
      { id: 'aud_b', name: 'Second' },
      { id: 'aud_c', name: 'Third' },
    ]);
    await client.ingest(
      'contacts',
      people(25).map((record) => ({ ...record, audience_ids: ['aud_a'] })),
    );
  });

  /** Runs with a client behind a proxy that treats the first requests with these faults. */
  async function behindProxy<T>(
    faults: Fault[],
    run: (client: Client, proxy: Awaited<ReturnType<typeof startProxy>>) => Promise<T>,
  ): Promise<T> {
    const proxy = await startProxy(gateway.url, faults);
    try {
      const options = { url: proxy.url, apiKey: gateway.key, organizationId: 'org_a' };
      return await run(createClient(options), proxy);
    } finally {
      await proxy.close();
    }
  }

  it('fills in the organization of the key, which it asks for once', async () => {
    await behindProxy([], async (_, proxy) => {
      const own = createClient({ url: `${proxy.url}/`, apiKey: gateway.key });
      const { organization_id, contact } = await own.call('/api/contacts/get', { contact_id: 'c1' });
      await own.call('/api/contacts/get', { contact_id: 'c2' });
      expect(organization_id).to.equal('org_a');
      expect(contact?.first_name).to.equal('Ada 1');
      expect(proxy.seen.map(({ url }) => url)).to.deep.equal([
        '/api/key',
        '/api/contacts/get',
        '/api/contacts/get',
      ]);
    });
  });

  it('iterates over contacts, members and audiences to the end, each once', async () => {
    const found = await collect(client.items('/api/contacts/search', { limit: 10 }));
    expect(new Set(found.map(({ id }) => id)).size).to.equal(25);
    const pages = await collect(client.pages('/api/contacts/search', { limit: 10 }));
    expect(pages.map(({ contacts }) => contacts.length)).to.deep.equal([10, 10, 5]);
    const members = client.items('/api/audiences/contacts/search', { audience_id: 'aud_a', limit: 25 });
    expect(await collect(members)).to.have.length(25);
    const audiences = await collect(client.items('/api/audiences/search', { limit: 2 }));
    expect(audiences.map(({ id }) => id).sort()).to.deep.equal(['aud_a', 'aud_b', 'aud_c']);
  });

  it('iterates over pages of advertising and over none', async () => {
    await client.ingest(
      'network-a-campaigns',
      Array.from({ length: 5 }, (_, index) => ({ id: `cmp${index}`, name: `Campaign ${index}` })),
    );
    const range = { start_date: '2026-01-01', end_date: '2026-01-31' };
    const campaigns = client.items('/api/advertising/network_a/campaigns', { ...range, page_size: 2 });
    expect((await collect(campaigns)).map(({ id }) => id)).to.have.length(5);
    expect(await collect(client.items('/api/advertising/network_a/companies', range))).to.deep.equal([]);
    expect(await collect(client.items('/api/website-visits/search', {}))).to.deep.equal([]);
  });

  it('throws each problem as a class with its code, errors and request id', async () => {
    const invalid = await fail(client.call('/api/contacts/search', { limit: 0 }));
    expect(invalid).to.be.instanceOf(ValidationProblem).and.instanceOf(ReachlineProblem);
    expect(invalid).to.include({ status: 422, code: 'validation_failed', name: 'ValidationProblem' });
    expect(invalid.errors.map(({ pointer }) => pointer)).to.deep.equal(['/limit']);
    expect(invalid.requestId).to.be.a('string').with.length.above(8);
    const missing = await fail(client.call('/api/contacts/get', { contact_id: 'nobody' }));
    expect(missing).to.be.instanceOf(NotFoundProblem).with.property('code', 'contact_not_found');
    const wrong = createClient({ url: gateway.url, apiKey: 'rl_live_wrong' });
    expect(await fail(wrong.describeKey())).to.be.instanceOf(AuthenticationProblem);
    const apiKey = await gateway.keyFor('org_a', ['visits:read']);
    const narrow = createClient({ url: gateway.url, apiKey });
    expect(await fail(narrow.call('/api/contacts/search', {}))).to.be.instanceOf(PermissionProblem);
    const work_emails = ['ada@example.com'];
    await client.call('/api/contacts/create', { audience_id: 'aud_a', work_emails });
    const twice = client.call(
      '/api/contacts/create',
      { audience_id: 'aud_a', work_emails },
      { query: { on_duplicate: 'reject' } },
    );
    expect(await fail(twice)).to.be.instanceOf(ConflictProblem);
  });

  it('says what a creation would cost where the balance does not cover it', async () => {
    await gateway.stores.records.setCredits('org_poor', 2);
    const poor = createClient({ url: gateway.url, apiKey: await gateway.keyFor('org_poor') });
    await poor.ingest('audiences', [{ id: 'aud_a', name: 'First' }]);
    const error = await fail(
      poor.call('/api/contacts/create', { audience_id: 'aud_a' }, { query: { required_credits: 3 } }),
    );
    expect(error).to.be.instanceOf(InsufficientCreditsProblem);
    expect(error).to.include({ requiredCredits: 3, creditBalance: 2 });
  });

  it('waits as long as a 429 asks, and gives up where that is longer than it may', async () => {
    const config = { ...loadConfig({ PORT: '0' }), rateLimit: 30 };
    const limited = await startGateway(config, gateway.stores, createLogger('silent'));
    try {
      const waits: number[] = [];
      const options = { url: limited.url, apiKey: gateway.key, organizationId: 'org_a' };
      const patient = createClient({ ...options, onRetry: ({ waitMs }) => waits.push(waitMs) });
      await Promise.all(Array.from({ length: 33 }, () => patient.call('/api/contacts/search', {})));
      expect(waits).to.have.length.above(0);
      for (const waitMs of waits) expect(waitMs).to.be.at.least(1000);
      const impatient = createClient({ ...options, maxWaitMs: 500 });
      let error: unknown;
      while (error === undefined) {
        error = await impatient.call('/api/contacts/search', {}).then(
          () => undefined,
          (reason: unknown) => reason,
        );
      }
      expect(error).to.be.instanceOf(RateLimitProblem).with.property('retryAfterMs').that.is.at.least(1000);
    } finally {
      await limited.stop();
    }
  });

  it('repeats a request after 503, 502 and a cut connection', async () => {
    await behindProxy(['unavailable', 'bad gateway', 'cut before'], async (behind, proxy) => {
      const started = performance.now();
      expect((await behind.call('/api/contacts/search', {})).total_count).to.be.above(0);
      expect(performance.now() - started).to.be.above(1000);
      expect(proxy.seen).to.have.length(4);
    });
  });

  it('does not repeat a request after 504, whatever Retry-After says', async () => {
    await behindProxy(['timeout'], async (behind, proxy) => {
      const late = await fail(behind.call('/api/contacts/search', {}));
      expect(late).to.be.instanceOf(UnavailableProblem).and.include({ status: 504 });
      expect(proxy.seen).to.have.length(1);
    });
  });

  it('throws the last failure once its attempts are used up', async () => {
    const proxy = await startProxy(gateway.url, ['cut before', 'bad gateway', 'cut before']);
    const options = { url: proxy.url, apiKey: gateway.key, organizationId: 'org_a' };
    const twice = createClient({ ...options, maxAttempts: 2 });
    const busy = await fail(twice.call('/api/contacts/search', {}));
    expect(busy).to.be.instanceOf(UnavailableProblem).and.include({ status: 502, code: 'unknown' });
    const once = createClient({ ...options, maxAttempts: 1 });
    expect(await fail(once.call('/api/contacts/search', {}))).to.be.instanceOf(ConnectionError);
    await proxy.close();
    expect(await fail(once.call('/api/contacts/search', {}))).to.be.instanceOf(ConnectionError);
  });

  it('creates one contact where the answer was cut off, by the idempotency key of both attempts', async () => {
    const count = async () => (await client.call('/api/contacts/search', { last_name: 'Cut' })).total_count;
    await behindProxy(['cut after'], async (behind, proxy) => {
      const { contact_id } = await behind.call('/api/contacts/create', {
        audience_id: 'aud_a',
        last_name: 'Cut',
      });
      expect(contact_id).to.match(/^con_/);
      const keys = proxy.seen.map(({ headers }) => headers['idempotency-key']);
      expect(keys).to.have.length(2);
      expect(keys[0])
        .to.equal(keys[1])
        .and.match(/^[0-9a-f]{32}$/);
    });
    expect(await count()).to.equal(1);
    const created = () =>
      client.call(
        '/api/contacts/create',
        { audience_id: 'aud_a', last_name: 'Cut' },
        { idempotencyKey: 'order-66' },
      );
    expect((await created()).contact_id).to.equal((await created()).contact_id);
    expect(await count()).to.equal(2);
  });

  it('abandons a silent attempt after its timeout, and a wait when its signal is aborted', async () => {
    const silent = await startProxy(gateway.url, ['silence', 'silence', 'silence']);
    const options = { url: silent.url, apiKey: 'any', organizationId: 'org_a' };
    const client = createClient({ ...options, timeoutMs: 50, maxAttempts: 2 });
    const error = await fail(client.call('/api/contacts/search', {}));
    expect(error).to.be.instanceOf(ConnectionError).with.property('message').that.contains('50 ms');
    const abort = new AbortController();
    const work = fail(
      createClient({ ...options, timeoutMs: 50, onRetry: () => abort.abort(new Error('left')) }).call(
        '/api/contacts/search',
        {},
        { signal: abort.signal },
      ),
    );
    expect(await work).to.have.property('message', 'left');
    const aborted = fail(client.call('/api/contacts/search', {}, { signal: AbortSignal.abort() }));
    expect(await aborted).to.have.property('name', 'AbortError');
    await silent.close();
  });

  it('stops an iteration when its signal is aborted', async () => {
    const abort = new AbortController();
    const seen: string[] = [];
    const error = await fail(
      (async () => {
        for await (const { id } of client.items('/api/contacts/search', { limit: 5 }, abort)) {
          seen.push(id);
          if (seen.length === 5) abort.abort(new Error('enough'));
        }
      })(),
    );
    expect(error.message).to.equal('enough');
    expect(seen).to.have.length(5);
  });

  it('sends records in compressed requests of bounded count and size, and adds up their results', async () => {
    async function* records() {
      for (let index = 1; index <= 250; index++) {
        // The record of every hundredth line is rejected.
        yield { id: `v${index}`, createdAt: index % 100 === 0 ? 'never' : '2026-11-01T00:00:00Z' };
      }
    }
    await behindProxy(['none', 'cut after'], async (behind, proxy) => {
      const progress: number[] = [];
      const result = await behind.ingest('website-visits', records(), {
        requestRecords: 90,
        onProgress: ({ accepted }) => progress.push(accepted),
      });
      expect(result).to.include({ accepted: 248, rejected: 2 });
      expect(result.errors.map(({ line, pointer }) => [line, pointer])).to.deep.equal([
        [100, '/createdAt'],
        [200, '/createdAt'],
      ]);
      expect(progress).to.deep.equal([90, 179, 248]);
      // Three, of which the second was sent twice.
      expect(proxy.seen).to.have.length(4);
      for (const { headers } of proxy.seen) expect(headers['content-encoding']).to.equal('gzip');
    });
    await behindProxy([], async (behind, proxy) => {
      const result = await behind.ingest('contacts', people(10), { requestBytes: 100 });
      expect(result).to.deep.equal({
        accepted: 10,
        rejected: 0,
        skipped: 0,
        rounded: 0,
        suppressed: 0,
        stale: 0,
        invalid_domains: 0,
        invalid_values: 0,
        errors: [],
      });
      expect(proxy.seen).to.have.length.within(4, 6);
    });
    expect((await client.call('/api/website-visits/search', {})).total_count).to.equal(248);
  });

  it('finds every rejected record of a request, and sends JSON as it is', async () => {
    const lines = Array.from({ length: 250 }, (_, index) =>
      new TextEncoder().encode(index % 5 === 0 ? `{"id":"a${index}","name":"A"}` : 'x'),
    );
    const found: number[] = [];
    const result = await client.ingest('audiences', lines, {
      findEveryRejected: true,
      onRejected: ({ line }) => found.push(line),
    });
    expect(result).to.include({ accepted: 50, rejected: 200 });
    expect(found).to.deep.equal(lines.flatMap((_, index) => (index % 5 === 0 ? [] : [index + 1])));
    expect(result.errors).to.have.length(200);
  });

  it('finds every rejected record without sending any twice, which could be taken then', async () => {
    const [known, alias] = ['known@twice.example', 'alias@twice.example'];
    await client.ingest('contacts', [{ contact_id: 'known', work_emails: [known] }]);
    const input = [
      { contact_id: 'first', work_emails: [known, alias] },
      ...Array.from({ length: 150 }, () => ({ contact_id: '!' })),
      { contact_id: 'last', work_emails: [alias] },
    ];
    await behindProxy([], async (behind, proxy) => {
      const found: number[] = [];
      const { accepted, rejected } = await behind.ingest('contacts', input, {
        query: { on_duplicate: 'reject' },
        findEveryRejected: true,
        onRejected: ({ line }) => found.push(line),
      });
      expect({ accepted, rejected }).to.deep.equal({ accepted: 0, rejected: 152 });
      expect(found).to.deep.equal(input.map((_, index) => index + 1));
      expect(proxy.seen).to.have.length(1);
    });
    expect(await fail(client.call('/api/contacts/get', { contact_id: 'last' }))).to.be.instanceOf(
      NotFoundProblem,
    );
  });

  it('refuses a record in bytes of several lines, which would be several records', async () => {
    const broken = client.ingest('audiences', [new TextEncoder().encode('{"id":"lf",\n"name":"A"}')]);
    expect((await broken.catch((error: Error) => error)).toString()).to.match(/^TypeError: .*line feed/);
  });

  it('sends the records of a live source within a second, and ends the source when sending fails', async () => {
    let isOpen = true;
    async function* live() {
      try {
        yield { id: 'live1', name: 'A' };
        await new Promise((resolve) => setTimeout(resolve, 1500));
        yield { id: 'live2', name: 'B' };
      } finally {
        isOpen = false;
      }
    }
    const counts: number[] = [];
    const result = await client.ingest('audiences', live(), {
      onProgress: ({ accepted }) => counts.push(accepted),
    });
    expect({ counts, accepted: result.accepted, isOpen }).to.deep.equal({
      counts: [1, 2],
      accepted: 2,
      isOpen: false,
    });
    isOpen = true;
    const failed = client.ingest('audiences', live(), { query: { map: 'no-such-mapping' } });
    expect(await failed.catch((error: Error) => error.name)).to.equal('ValidationProblem');
    await until(() => !isOpen, 'the source is closed');
  });

  it('exports everything that matches as one stream', async () => {
    const { total, stream } = await client.export('/api/contacts/search', { query: 'ada' }, 'ndjson');
    const ids = (await new Response(stream).text())
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).to.have.length(total).above(20);
    expect(ids).to.deep.equal(
      (await collect(client.items('/api/contacts/search', { query: 'ada', limit: 7 }))).map(({ id }) => id),
    );
    const csv = await client.export('/api/audiences/search', {}, 'csv');
    expect(await new Response(csv.stream).text()).to.match(/^id,organization_id,name,/);
    const wrong = client.export('/api/contacts/search', { city: '!' }, 'csv');
    expect(await fail(wrong)).to.be.instanceOf(ReachlineProblem);
  });

  it('adds up the records whose unknown fields were left out, where they are', async () => {
    const records = [
      { contact_id: 'a', shoe_size: 1 },
      { contact_id: 'b' },
      { contact_id: 'c', shoe_size: 2 },
    ];
    const query = { dry_run: true, unknown_fields: 'ignore' } as const;
    const { ignored } = await client.ingest('contacts', records, { query, requestRecords: 1 });
    expect(ignored).to.equal(2);
    expect(await client.ingest('contacts', records, { query: { dry_run: true } })).not.to.have.property(
      'ignored',
    );
  });

  it('writes nothing in a dry run of ingest', async () => {
    const result = await client.ingest('contacts', [{ contact_id: 'dry' }], { query: { dry_run: true } });
    expect(result).to.include({ accepted: 1, rejected: 0 });
    expect(await fail(client.call('/api/contacts/get', { contact_id: 'dry' }))).to.be.instanceOf(
      NotFoundProblem,
    );
  });
});
