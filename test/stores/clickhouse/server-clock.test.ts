import { expect } from 'chai';
import { ServerClock } from '../../../services/stores/clickhouse/server-clock.js';

const HOUR = 3_600_000;

describe('the clock of a server', () => {
  it('is asked once, and is behind what it shows by no more than the question took', async () => {
    let asked = 0;
    const clock = new ServerClock(async () => {
      asked++;
      return Date.now() + HOUR;
    });
    for (const moment of [0, 1000, Date.now()]) {
      const begun = Date.now();
      const there = await clock.there(moment);
      expect(there).to.be.at.most(moment + HOUR);
      expect(there).to.be.at.least(moment + HOUR - (Date.now() - begun) - 1000);
    }
    expect(asked).to.equal(1);
  });

  it('is asked again once it is forgotten, and after it did not answer', async () => {
    const answers = [() => Date.now() + HOUR, () => Date.now() - HOUR];
    const clock = new ServerClock(async () => {
      const answer = answers.shift();
      if (!answer) throw new Error('no answer');
      return answer();
    });
    expect(await clock.there(0)).to.be.above(HOUR / 2);
    clock.forget();
    expect(await clock.there(0)).to.be.below(-HOUR / 2);
    clock.forget();
    expect(await clock.there(0).catch((error: Error) => error.message)).to.equal('no answer');
    answers.push(() => Date.now());
    expect(await clock.there(0)).to.be.within(-1000, 0);
  });
});
