import { expect } from 'chai';
import { StoreUnavailableError } from '../../../../services/shared/store-errors.js';
import { CompletionSchedule } from '../../../../services/stores/sqlite/erasure/completion-schedule.js';

describe('Completion of erasures', () => {
  it('leaves nine tenths of the time to writes once it takes long', async () => {
    const clock = { now: () => nowMs };
    let nowMs = 1_000_000;
    let completions = 0;
    const schedule = new CompletionSchedule(async () => {
      completions++;
      nowMs += 40_000;
    }, clock);
    await schedule.run();
    await schedule.run();
    expect(completions).to.equal(1);
    nowMs += 9 * 40_000 - 1;
    await schedule.run();
    expect(completions).to.equal(1);
    nowMs += 1;
    await schedule.run();
    expect(completions).to.equal(2);
    schedule.close();
  });

  it('makes no pause after one that is as short as a transaction', async () => {
    let nowMs = 1_000_000;
    let completions = 0;
    const complete = async () => {
      completions++;
      nowMs += 300;
    };
    const schedule = new CompletionSchedule(complete, { now: () => nowMs });
    await schedule.run();
    await schedule.run();
    expect(completions).to.equal(2);
  });

  it('completes at the end of the pause the erasures that were requested during it', async () => {
    let completions = 0;
    let nowMs = 0;
    const again = new Promise<void>((resolve) => {
      const complete = async () => {
        nowMs += 1;
        if (++completions === 2) resolve();
      };
      const clock = { now: () => (completions === 1 ? nowMs++ : nowMs) };
      const schedule = new CompletionSchedule(complete, clock, 0);
      void schedule.run().then(() => schedule.run());
    });
    await again;
    expect(completions).to.equal(2);
  });

  it('fails where the store fails, and not where it has to wait', async () => {
    const busy = new CompletionSchedule(() => Promise.reject(new StoreUnavailableError('search', {})));
    await busy.run();
    busy.close();
    const broken = new CompletionSchedule(() => Promise.reject(new Error('broken')));
    let failure: unknown;
    await broken.run().catch((error: unknown) => {
      failure = error;
    });
    expect(failure).to.be.instanceOf(Error).with.property('message', 'broken');
  });
});
