import { expect } from 'chai';
import { createRateLimiter } from '../../services/gateway/rate-limit.js';
import { Problem } from '../../services/http/problems.js';

describe('Rate limit', () => {
  it('allows a burst of the limit, then requests at the refill rate', () => {
    let now = 0;
    const { take } = createRateLimiter(60, () => now);
    for (let request = 59; request >= 0; request--) {
      expect(take('key')?.RateLimit).to.match(new RegExp(`r=${request};`));
    }
    expect(() => take('key'))
      .to.throw(Problem)
      .that.includes({ code: 'rate_limited', status: 429 });
    now += 1000;
    expect(take('key')?.RateLimit).to.match(/r=0;/);
    expect(() => take('key')).to.throw(Problem);
    now += 60_000;
    expect(take('key')?.RateLimit).to.match(/r=59;/);
  });

  it('returns Retry-After when the bucket is empty', () => {
    const { take } = createRateLimiter(2, () => 0);
    take('key');
    take('key');
    expect(() => take('key'))
      .to.throw(Problem)
      .that.has.property('headers')
      .that.deep.includes({ 'Retry-After': '30', 'RateLimit-Policy': '"default";q=2;w=60' });
  });

  it('charges requests admitted by other workers, and refills a negative bucket', () => {
    let now = 0;
    const { take, charge } = createRateLimiter(60, () => now);
    charge('key', 58);
    expect(take('key')?.RateLimit).to.match(/r=1;/);
    charge('key', 3);
    expect(() => take('key'))
      .to.throw(Problem)
      .that.has.property('headers')
      .that.includes({ 'Retry-After': '3' });
    now += 3000;
    expect(take('key')?.RateLimit).to.match(/r=0;/);
  });

  it('limits each key separately', () => {
    const { take } = createRateLimiter(1, () => 0);
    take('one');
    expect(() => take('one')).to.throw(Problem);
    expect(take('two').RateLimit).to.match(/r=0;/);
  });

  it('is disabled by a limit of 0', () => {
    const { take } = createRateLimiter(0, () => 0);
    for (let request = 0; request < 1000; request++) expect(take('key')).to.deep.equal({});
  });
});
