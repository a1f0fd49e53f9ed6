import { expect } from 'chai';
import { bodyTokens, createRateLimiter, keptTokens } from '../../services/gateway/rate-limit.js';
import { Problem } from '../../services/http/problems.js';

const KEY = { keyId: 'key', organizationId: 'org' };
const OTHER = { keyId: 'other', organizationId: 'org' };

describe('Rate limit', () => {
  it('allows a burst of the limit, then requests at the refill rate', () => {
    let now = 0;
    const { take } = createRateLimiter(60, () => now);
    for (let request = 59; request >= 0; request--) {
      expect(take(KEY)?.RateLimit).to.match(new RegExp(`r=${request};`));
    }
    expect(() => take(KEY))
      .to.throw(Problem)
      .that.includes({ code: 'rate_limited', status: 429 });
    now += 1000;
    expect(take(KEY)?.RateLimit).to.match(/r=0;/);
    expect(() => take(KEY)).to.throw(Problem);
    now += 60_000;
    expect(take(KEY)?.RateLimit).to.match(/r=59;/);
  });

  it('returns Retry-After when the bucket is empty', () => {
    const { take } = createRateLimiter(2, () => 0);
    take(KEY);
    take(KEY);
    expect(() => take(KEY))
      .to.throw(Problem)
      .that.has.property('headers')
      .that.deep.includes({ 'Retry-After': '30', 'RateLimit-Policy': '"default";q=2;w=60' });
  });

  it('charges requests admitted by other workers, and refills a negative bucket', () => {
    let now = 0;
    const { take, charge } = createRateLimiter(60, () => now);
    charge(KEY, 58);
    expect(take(KEY)?.RateLimit).to.match(/r=1;/);
    charge(KEY, 3);
    expect(() => take(KEY))
      .to.throw(Problem)
      .that.has.property('headers')
      .that.includes({ 'Retry-After': '3' });
    now += 3000;
    expect(take(KEY)?.RateLimit).to.match(/r=0;/);
  });

  it('limits each key separately', () => {
    const { take } = createRateLimiter(1, () => 0);
    take(KEY);
    expect(() => take(KEY)).to.throw(Problem);
    expect(take(OTHER).RateLimit).to.match(/r=0;/);
  });

  it('limits the keys of an organization to twice the limit together', () => {
    let now = 0;
    const { take } = createRateLimiter(60, () => now);
    for (let request = 0; request < 60; request++) take(KEY);
    for (let request = 0; request < 60; request++) take(OTHER);
    const third = { keyId: 'third', organizationId: 'org' };
    expect(() => take(third))
      .to.throw(Problem, 'This organization may send 120 requests in 60 seconds.')
      .that.has.property('headers')
      .that.includes({ 'Retry-After': '1' });
    expect(take({ keyId: 'stranger', organizationId: 'elsewhere' }).RateLimit).to.match(/r=59;/);
    now += 500;
    expect(take(third).RateLimit).to.match(/r=0;/);
  });

  it('takes a token for each 64 KiB of a body', () => {
    const KIB = 1024;
    const sizes = [0, 1, 64 * KIB, 64 * KIB + 1, 256 * KIB, 16 * KIB * KIB];
    expect(sizes.map((bytes) => 1 + bodyTokens(bytes))).to.deep.equal([1, 1, 1, 2, 4, 256]);
  });

  it('takes a token for each KiB of an answer that is kept', () => {
    const sizes = [0, 1, 1024, 1025, 33 * 1024];
    expect(sizes.map((bytes) => 1 + keptTokens(bytes))).to.deep.equal([1, 1, 1, 2, 33]);
  });

  it('is disabled by a limit of 0', () => {
    const { take } = createRateLimiter(0, () => 0);
    for (let request = 0; request < 1000; request++) expect(take(KEY)).to.deep.equal({});
  });
});
