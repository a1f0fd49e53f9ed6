import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { StoreUnavailableError } from '../../../services/shared/store-errors.js';
import { WorkerClient } from '../../../services/stores/sqlite/workers/worker-client.js';

type Fixture = { echo: (value: number) => string; die: () => string };

describe('The worker client', () => {
  const start = () =>
    new WorkerClient<Fixture>(new URL('./worker-client.fixture.js', import.meta.url), {
      path: '',
      cacheMb: 1,
    });

  it('rejects pending calls when its thread dies, and starts a new one at the next call', async () => {
    const client = start();
    expect(await client.call('echo', 1)).to.deep.equal([1]);
    for (const result of await Promise.allSettled([client.call('die'), client.call('echo', 2)])) {
      expect(result.status).to.equal('rejected');
      expect((result as PromiseRejectedResult).reason).to.be.instanceOf(StoreUnavailableError);
    }
    expect(await client.call('echo', 3)).to.deep.equal([3]);
    await client.close();
  });

  it('runs exclusive work after the calls before it and before those that come meanwhile', async () => {
    const client = start();
    const events: string[] = [];
    const call = (value: number) => client.call('echo', value).then(() => events.push(`call ${value}`));
    const before = call(1);
    const exclusive = client.runExclusive(async () => {
      events.push('begins');
      await Promise.race([during, pause(20)]);
      events.push('ends');
    });
    const during = Promise.all([call(2), client.runExclusive(async () => events.push('next'))]);
    await Promise.all([before, exclusive, during]);
    expect(events.slice(0, 3)).to.have.members(['call 1', 'begins', 'ends']);
    expect(events.slice(3)).to.have.members(['call 2', 'next']);
    await client.runExclusive(() => Promise.reject(new Error('fails'))).catch(() => undefined);
    await call(3);
    await client.close();
  });

  it('answers calls made before it closes, and rejects later ones', async () => {
    const client = start();
    const answer = client.call('echo', 1);
    await Promise.all([client.close(), client.close()]);
    expect(await answer).to.deep.equal([1]);
    const [late] = await Promise.allSettled([client.call('echo', 2)]);
    expect((late as PromiseRejectedResult).reason).to.be.instanceOf(StoreUnavailableError);
  });
});
