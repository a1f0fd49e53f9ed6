import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createClientAddress } from '../../services/gateway/client-address.js';
import { clientNetwork } from '../../services/gateway/rate-limit.js';
import { ConfigError, loadConfig } from '../../services/shared/config.js';

const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

describe('The address of a client', () => {
  it('is the peer address without trusted proxies, whatever X-Forwarded-For says', () => {
    expect(createClientAddress()(from('192.0.2.1', '203.0.113.1'))).to.equal('192.0.2.1');
    expect(createClientAddress(['10.0.0.0/8'])(from('192.0.2.1', '203.0.113.1'))).to.equal('192.0.2.1');
  });

  it('is the last address in X-Forwarded-For that is not a trusted proxy', () => {
    const addressOf = createClientAddress(['10.0.0.0/8', '2001:db8::1']);
    expect(addressOf(from('::ffff:10.0.0.1', '198.51.100.7, 203.0.113.1'))).to.equal('203.0.113.1');
    expect(addressOf(from('2001:db8::1', '203.0.113.1, 10.9.9.9'))).to.equal('203.0.113.1');
    expect(addressOf(from('10.0.0.1', 'nonsense'))).to.equal('10.0.0.1');
    expect(addressOf(from('10.0.0.1'))).to.equal('10.0.0.1');
  });

  it('is limited by its /64 network for IPv6', () => {
    expect(clientNetwork('2001:db8:0:1:2:3:4:5')).to.equal(clientNetwork('2001:db8:0:1::'));
    expect(clientNetwork('2001:db8:0:1::')).not.to.equal(clientNetwork('2001:db8:0:2::'));
    expect(clientNetwork('::ffff:192.0.2.1')).to.equal(clientNetwork('192.0.2.1'));
    expect(clientNetwork('192.0.2.1')).not.to.equal(clientNetwork('192.0.2.2'));
  });

  it('rejects a trusted proxy that is not an address', () => {
    expect(() => loadConfig({ REACHLINE_TRUSTED_PROXIES: '10.0.0.0/8, proxy' }))
      .to.throw(ConfigError)
      .that.has.property('message')
      .that.matches(/REACHLINE_TRUSTED_PROXIES holds "proxy"/);
  });
});
