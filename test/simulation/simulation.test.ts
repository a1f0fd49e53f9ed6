import { expect } from 'chai';
import { runSchedule } from './schedule.js';

/** Number of schedules. Every planted fault was found within 36; `npm run test:nightly -- simulation` runs as many as requested. */
const SCHEDULES = 250;

describe('The simulation of the batch processor', function () {
  this.timeout(120_000);

  it('finds no schedule that loses a record, keeps an older one, or dead-letters a good one', async () => {
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      const { violations } = await runSchedule(seed);
      expect(violations, `npm run test:nightly -- simulation --seed ${seed}`).to.deep.equal([]);
    }
  });

  it('repeats a schedule for the same seed, and differs for another', async () => {
    const [first, again, other] = [await runSchedule(7), await runSchedule(7), await runSchedule(8)];
    expect(again).to.deep.equal(first);
    expect(other.digest).not.to.equal(first.digest);
  });
});
