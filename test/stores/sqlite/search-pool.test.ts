import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { fromJson } from '../../../services/shared/json.js';
import {
  OverloadedError,
  StoreTimeoutError,
  StoreUnavailableError,
} from '../../../services/shared/store-errors.js';
import { startSearchProcess } from '../../../services/stores/sqlite/workers/process-client.js';
import { SearchPool } from '../../../services/stores/sqlite/workers/search-pool.js';

interface Counted {
  process: number;
  calls: number;
}
type Fixture = { count: () => string; endless: () => string; large: () => string; die: () => string };

const DISCONNECTED = new Error('the client disconnected');
const ENTRY = fileURLToPath(new URL('./search-pool.fixture.js', import.meta.url));

describe('The search pool', () => {
  const pools: { pool: SearchPool<Fixture>; expire: () => void }[] = [];
  /** A pool whose deadlines pass when `expire` is called. */
  const startWithDeadlines = (maxProcesses: number, entry = ENTRY) => {
    const deadlines = new Set<() => void>();
    const pool = new SearchPool<Fixture>({
      maxProcesses,
      timeoutMs: 5000,
      startProcess: (handlers) => startSearchProcess(entry, { path: '', cacheMb: 1 }, handlers),
      setTimer: (run) => {
        deadlines.add(run);
        return () => deadlines.delete(run);
      },
    });
    const started = { pool, expire: () => deadlines.forEach((run) => void run()) };
    pools.push(started);
    return started;
  };
  const start = (maxProcesses: number, entry?: string) => startWithDeadlines(maxProcesses, entry).pool;
  const count = async (pool: SearchPool<Fixture>, organization: string) =>
    fromJson<Counted>(await pool.call(organization, 'count', []));
  const errorOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

  afterEach(async () => {
    for (const { pool, expire } of pools.splice(0)) {
      const closed = pool.close();
      expire();
      await closed;
    }
  });

  // The model covers turns, limits and callers that left.
  it('ends a search at its deadline, and runs the next in another process', async () => {
    const { pool, expire } = startWithDeadlines(2);
    const { process } = await count(pool, 'org_a');
    const endless = errorOf(pool.call('org_a', 'endless', []));
    const next = count(pool, 'org_a');
    expire();
    expect(await endless).to.be.instanceOf(StoreTimeoutError);
    expect((await next).process).not.to.equal(process);
  });

  it('rejects a search whose client disconnected before it', async () => {
    const call = start(1).call('org_a', 'endless', [], AbortSignal.abort(DISCONNECTED));
    expect(await errorOf(call)).to.equal(DISCONNECTED);
  });

  it('rejects searches of an organization above a limit', async () => {
    const pool = start(2);
    const asked = Array.from({ length: 300 }, () => errorOf(count(pool, 'org_a')));
    await count(pool, 'org_b');
    const rejected = (await Promise.all(asked)).filter((answer) => answer instanceof OverloadedError);
    expect(rejected).to.have.length(300 - 250);
  });

  it('starts no search while requests in flight hold many bytes of answers', async () => {
    const pool = start(1);
    const requests = [new AbortController(), new AbortController()];
    await Promise.all(requests.map(({ signal }) => pool.call('org_a', 'large', [], signal)));
    let isAnswered = false;
    const next = count(pool, 'org_a').finally(() => {
      isAnswered = true;
    });
    await count(start(1), 'org_a');
    expect(isAnswered).to.equal(false);
    requests[0]?.abort();
    expect((await next).calls).to.be.greaterThan(1);
  });

  it('rejects a search that cannot be sent, and runs the next', async () => {
    const pool = start(1);
    await count(pool, 'org_a');
    const unsendable = [() => undefined] as unknown as [];
    const rejected = await errorOf(pool.call('org_a', 'count', unsendable));
    expect((rejected as Error).message).to.match(/could not be cloned/);
    expect((await count(pool, 'org_a')).calls).to.equal(1);
  });

  it('fails only the search of a process that dies', async () => {
    const pool = start(1);
    const dead = errorOf(pool.call('org_a', 'die', []));
    const next = count(pool, 'org_a');
    expect(await dead).to.be.instanceOf(StoreUnavailableError);
    expect((await next).calls).to.equal(1);
  });

  it('rejects waiting searches when a process cannot start, and tries again at the next', async () => {
    const pool = start(2, fileURLToPath(new URL('./no-such-file.js', import.meta.url)));
    for (let attempt = 0; attempt < 2; attempt++) {
      const calls = ['org_a', 'org_b'].map((organization) => count(pool, organization));
      for (const { status } of await Promise.allSettled(calls)) expect(status).to.equal('rejected');
    }
  });

  it('rejects waiting and later searches when it closes, and lets running ones end', async () => {
    const pool = start(1);
    await count(pool, 'org_a');
    const running = count(pool, 'org_a');
    const waiting = errorOf(count(pool, 'org_a'));
    await Promise.all([pool.close(), pool.close()]);
    expect((await running).calls).to.equal(2);
    expect(await waiting).to.be.instanceOf(StoreUnavailableError);
    expect(await errorOf(count(pool, 'org_a'))).to.be.instanceOf(StoreUnavailableError);
  });
});
