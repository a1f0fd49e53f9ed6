import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect } from 'chai';
import { fromJson } from '../../../services/shared/json.js';
import { OverloadedError, StoreUnavailableError } from '../../../services/shared/store-errors.js';
import { SearchPool } from '../../../services/stores/sqlite/workers/search-pool.js';

interface Counted {
  process: number;
  calls: number;
}
type Fixture = { count: () => string; endless: () => string; large: () => string; die: () => string };

const DISCONNECTED = new Error('the client disconnected');

describe('The search pool', () => {
  const pools: SearchPool<Fixture>[] = [];
  const start = (size: number) => {
    const entry = new URL('./search-pool.fixture.js', import.meta.url);
    const pool = new SearchPool<Fixture>(entry, { path: '', cacheMb: 1 }, { size, closeTimeoutMs: 10 });
    pools.push(pool);
    return pool;
  };
  const count = async (pool: SearchPool<Fixture>, organization: string) =>
    fromJson<Counted>(await pool.call(organization, 'count', []));
  /** A search that never ends by itself, and how its client abandons it. */
  const endless = (pool: SearchPool<Fixture>, organization: string) => {
    const controller = new AbortController();
    const search = {
      ended: false,
      abandon: () => controller.abort(DISCONNECTED),
      outcome: Promise.resolve<unknown>(null),
    };
    search.outcome = pool.call(organization, 'endless', [], controller.signal).catch((error: unknown) => {
      search.ended = true;
      return error;
    });
    return search;
  };

  afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.close())));

  it('kills a statement whose client disconnected, and runs the next', async () => {
    const pool = start(1);
    await count(pool, 'org_a');
    const search = endless(pool, 'org_a');
    const next = count(pool, 'org_a');
    search.abandon();
    expect(await search.outcome).to.equal(DISCONNECTED);
    expect((await next).calls).to.equal(1);
    expect([pool.running, pool.waiting]).to.deep.equal([0, 0]);
  });

  it('drops a waiting search whose client disconnected', async () => {
    const pool = start(1);
    const { process: id } = await count(pool, 'org_a');
    const first = count(pool, 'org_a');
    const controller = new AbortController();
    const dropped = pool.call('org_a', 'endless', [], controller.signal).catch((error: unknown) => error);
    const last = count(pool, 'org_a');
    controller.abort(DISCONNECTED);
    expect(await dropped).to.equal(DISCONNECTED);
    await first;
    expect(await last).to.deep.equal({ process: id, calls: 3 });
  });

  it('rejects a search whose client disconnected before it', async () => {
    const pool = start(1);
    const call = pool.call('org_a', 'endless', [], AbortSignal.abort(DISCONNECTED));
    expect(await call.catch((error: unknown) => error)).to.equal(DISCONNECTED);
    expect(pool.running).to.equal(0);
  });

  it('serves an organization while another has more searches than processes', async () => {
    const pool = start(2);
    const searches = [1, 2, 3, 4].map(() => endless(pool, 'org_a'));
    expect((await count(pool, 'org_b')).calls).to.equal(1);
    expect(searches.some(({ ended }) => ended)).to.equal(false);
    for (const { abandon } of searches) abandon();
    for (const { outcome } of searches) expect(await outcome).to.equal(DISCONNECTED);
  });

  it('gives organizations turns, however many searches one of them has waiting', async () => {
    const pool = start(1);
    await count(pool, 'org_a');
    const sent: string[] = [];
    const ask = (organization: string) => {
      // Read when the search is sent to a process. Two processes may answer in another order.
      const args = [
        {
          get organization() {
            sent.push(organization);
            return organization;
          },
        },
      ] as unknown as [];
      return pool.call(organization, 'count', args);
    };
    await Promise.all([...[1, 2, 3, 4, 5, 6].map(() => ask('org_a')), ask('org_b'), ask('org_c')]);
    expect(sent.slice(-3)).to.deep.equal(['org_a', 'org_a', 'org_a']);
  });

  it('makes long searches give way when others wait', async () => {
    const pool = start(1);
    const organizations = ['org_a', 'org_b', 'org_c', 'org_d'];
    const searches = organizations.flatMap((name) => [endless(pool, name), endless(pool, name)]);
    expect((await count(pool, 'org_e')).calls).to.be.greaterThan(0);
    expect((await count(pool, 'org_a')).calls).to.be.greaterThan(0);
    expect(searches.some(({ ended }) => ended)).to.equal(false);
    for (const { abandon } of searches) abandon();
    for (const { outcome } of searches) expect(await outcome).to.equal(DISCONNECTED);
    while (pool.running > 0) await yieldToEventLoop();
    expect(pool.waiting).to.equal(0);
  });

  it('rejects searches of an organization above a limit', async () => {
    const pool = start(1);
    const asked = Array.from({ length: 300 }, () => count(pool, 'org_a').catch((error: unknown) => error));
    await count(pool, 'org_b');
    const answers = await Promise.all(asked);
    const rejected = answers.filter((answer) => answer instanceof OverloadedError);
    expect(rejected).to.have.length(300 - 250);
  });

  it('starts no search while requests in flight hold many bytes of answers', async () => {
    const pool = start(1);
    const requests = [new AbortController(), new AbortController()];
    await Promise.all(requests.map(({ signal }) => pool.call('org_a', 'large', [], signal)));
    const next = count(pool, 'org_a');
    await count(start(1), 'org_a');
    expect([pool.running, pool.waiting]).to.deep.equal([0, 1]);
    requests[0]?.abort();
    expect((await next).calls).to.be.greaterThan(1);
  });

  it('fails only the search of a process that dies', async () => {
    const pool = start(1);
    const dead = pool.call('org_a', 'die', []).catch((error: unknown) => error);
    const next = count(pool, 'org_a');
    expect(await dead).to.be.instanceOf(StoreUnavailableError);
    expect((await next).calls).to.equal(1);
  });

  it('rejects waiting searches when a process cannot start, and tries again at the next', async () => {
    const pool = new SearchPool<Fixture>(
      new URL('./no-such-file.js', import.meta.url),
      { path: '', cacheMb: 1 },
      { size: 1 },
    );
    pools.push(pool);
    for (let attempt = 0; attempt < 2; attempt++) {
      const calls = ['org_a', 'org_b'].map((organization) => count(pool, organization));
      for (const { status } of await Promise.allSettled(calls)) expect(status).to.equal('rejected');
    }
  });

  it('kills running searches when it closes', async () => {
    const pool = start(1);
    await count(pool, 'org_a');
    const searches = [endless(pool, 'org_a'), endless(pool, 'org_a')];
    await Promise.all([pool.close(), pool.close()]);
    for (const { outcome } of searches) expect(await outcome).to.be.instanceOf(StoreUnavailableError);
    const late = await pool.call('org_a', 'count', []).catch((error: unknown) => error);
    expect(late).to.be.instanceOf(StoreUnavailableError);
  });
});
