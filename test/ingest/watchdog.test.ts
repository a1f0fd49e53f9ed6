import { expect } from 'chai';
import { Watchdog } from '../../ingest/worker/watchdog.js';

describe('The watchdog of a stream', () => {
  let now = 0;
  let watchdog: Watchdog;
  beforeEach(() => {
    now = 0;
    watchdog = new Watchdog(() => now);
  });
  const later = (seconds: number, behind: bigint) => {
    now += seconds * 1000;
    return watchdog.check(behind);
  };

  it('finds a stream stuck that took nothing for a minute though records were there', () => {
    expect(later(59, 3n)).to.equal(null);
    expect(later(2, 3n)?.message).to.equal('3 records are behind and none was taken for 61 s');
  });

  it('leaves one alone that goes on, or that waits for what it knows', () => {
    expect(later(50, 9n)).to.equal(null);
    watchdog.progress();
    expect(later(50, 9n)).to.equal(null);
  });

  it('leaves one alone that has nothing to do', () => {
    expect(later(300, 0n)).to.equal(null);
    expect(later(59, 1n)).to.equal(null);
  });
});
