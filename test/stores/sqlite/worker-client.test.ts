import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { StoreUnavailableError } from '../../../services/shared/store-errors.js';
import { MAX_PENDING, WorkerClient } from '../../../services/stores/sqlite/workers/worker-client.js';

type Fixture = { echo: (value: number) => string; die: () => string };

const nameOf = ({ name }: Error) => name;

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

  it('takes no more calls during exclusive work than at other times, and none of them once it is closed', async () => {
    const client = start();
    await client.call('echo', 1);
    let waiting: Promise<unknown>[] = [];
    await client.runExclusive(async () => {
      waiting = Array.from({ length: MAX_PENDING + 1 }, () => client.call('echo', 2).catch(nameOf));
      expect(await waiting.at(-1)).to.equal('OverloadedError');
      await client.close();
    });
    expect(new Set(await Promise.all(waiting.slice(0, -1)))).to.deep.equal(
      new Set(['StoreUnavailableError']),
    );
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
