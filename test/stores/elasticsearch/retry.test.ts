import { expect } from 'chai';
import { StoreTimeoutError } from '../../../services/shared/store-errors.js';
import { retryWithBackoff } from '../../../services/stores/elasticsearch/retry.js';

describe('retryWithBackoff', () => {
  const never = async (): Promise<string | undefined> => undefined;
  const failureOf = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error);

  it('repeats an attempt until it answers', async () => {
    let attempts = 0;
    expect(await retryWithBackoff(async () => (++attempts < 4 ? undefined : attempts))).to.equal(4);
  });

  it('gives up with StoreTimeoutError when its time is over', async () => {
    expect(await failureOf(retryWithBackoff(never, { timeoutMs: 20 }))).to.be.instanceOf(StoreTimeoutError);
  });

  it('waits longer and longer, so that few attempts are made', async () => {
    let attempts = 0;
    const attempt = async () => {
      attempts += 1;
      return undefined;
    };
    await failureOf(retryWithBackoff(attempt, { timeoutMs: 400 }));
    expect(attempts).to.be.within(2, 60);
  });

  it('ends while it waits when its signal is aborted, with the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    const outcome = failureOf(retryWithBackoff(never, { signal: controller.signal }));
    controller.abort(reason);
    expect(await outcome).to.equal(reason);
  });

  it('does not repeat an attempt that throws', async () => {
    let attempts = 0;
    const failure = new Error('broken');
    const attempt = async () => {
      attempts += 1;
      throw failure;
    };
    expect(await failureOf(retryWithBackoff(attempt))).to.equal(failure);
    expect(attempts).to.equal(1);
  });
});
