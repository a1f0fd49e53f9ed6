import { expect } from 'chai';
import { StoreTimeoutError } from '../../../services/shared/store-errors.js';
import { retryWithBackoff } from '../../../services/stores/elasticsearch/retry.js';

describe('retryWithBackoff', () => {
  const never = async (): Promise<string | undefined> => undefined;
  const failureOf = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error);

  it('retries until an attempt resolves with a value', async () => {
    let attempts = 0;
    expect(await retryWithBackoff(async () => (++attempts < 4 ? undefined : attempts))).to.equal(4);
  });

  it('throws StoreTimeoutError when its time is over', async () => {
    expect(await failureOf(retryWithBackoff(never, { timeoutMs: 20 }))).to.be.instanceOf(StoreTimeoutError);
  });

  it('throws the reason of its signal while it waits', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    const outcome = failureOf(retryWithBackoff(never, { signal: controller.signal }));
    controller.abort(reason);
    expect(await outcome).to.equal(reason);
  });

  it('does not retry an attempt that throws', async () => {
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
