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

  it('reports a stream that processed nothing for a minute while records were waiting', () => {
    expect(later(59, 3n)).to.equal(null);
    expect(later(2, 3n)?.message).to.equal('3 records are waiting and none was processed for 61 s');
  });

  it('reports no stream that makes progress or knows what it waits for', () => {
    expect(later(50, 9n)).to.equal(null);
    watchdog.progress();
    expect(later(50, 9n)).to.equal(null);
  });

  it('reports no stream without records', () => {
    expect(later(300, 0n)).to.equal(null);
    expect(later(59, 1n)).to.equal(null);
  });
});
