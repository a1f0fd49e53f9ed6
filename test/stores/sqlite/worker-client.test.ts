import { expect } from 'chai';
import { StoreUnavailableError } from '../../../services/shared/store-errors.js';
import { WorkerClient } from '../../../services/stores/sqlite/workers/worker-client.js';

type Fixture = { echo: (value: number) => string; die: () => string };

describe('a thread of the SQLite store', () => {
  const start = () =>
    new WorkerClient<Fixture>(new URL('./worker-client.fixture.js', import.meta.url), {
      path: '',
      cacheMb: 1,
    });

  it('that dies fails what was asked of it, and the next call starts it again', async () => {
    const thread = start();
    expect(await thread.call('echo', 1)).to.deep.equal([1]);
    for (const result of await Promise.allSettled([thread.call('die'), thread.call('echo', 2)])) {
      expect(result.status).to.equal('rejected');
      expect((result as PromiseRejectedResult).reason).to.be.instanceOf(StoreUnavailableError);
    }
    expect(await thread.call('echo', 3)).to.deep.equal([3]);
    await thread.close();
  });

  it('that is closed answers what it was asked before, and nothing after', async () => {
    const thread = start();
    const answer = thread.call('echo', 1);
    await Promise.all([thread.close(), thread.close()]);
    expect(await answer).to.deep.equal([1]);
    const [late] = await Promise.allSettled([thread.call('echo', 2)]);
    expect((late as PromiseRejectedResult).reason).to.be.instanceOf(StoreUnavailableError);
  });
});
