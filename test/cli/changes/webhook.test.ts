import { createHmac } from 'node:crypto';
import type { lookup } from 'node:dns';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { Content, Message } from '../../../services/cli/changes/follow-changes.js';
import { parseSecrets, type WebhookOptions, webhookSink } from '../../../services/cli/changes/webhook.js';
import { OTHER_SECRET, type Receiver, SECRET, startReceiver } from './receiver.js';

const content: Content = {
  type: 'contact.absent',
  organization_id: 'org_a',
  run: 'r1',
  data: { contact_id: 'con_ä', state: 'absent' },
};
const message: Message = { id: 'msg_r1_1', content };

describe('A message of reachline changes', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  async function deliver(options: Partial<WebhookOptions> = {}): Promise<string> {
    const chosen = { url: receiver.url, secrets: parseSecrets(SECRET), allowPrivate: true, ...options };
    try {
      const sink = webhookSink(chosen);
      await sink.deliver([message]).finally(() => sink.close());
      return 'acknowledged';
    } catch (error) {
      return String(error);
    }
  }
  /** A resolver that knows every name. */
  const resolvesTo = (...addresses: string[]) =>
    ((_: string, __: object, done: (error: null, found: object[]) => void) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )) as unknown as typeof lookup;
  const named = () => receiver.url.replace('127.0.0.1', 'receiver.invalid');

  it('is signed as Standard Webhooks with each of two secrets', async () => {
    expect(await deliver({ secrets: parseSecrets(`${SECRET}\n${OTHER_SECRET}\n`) })).to.equal('acknowledged');
    const [{ headers, body } = expect.fail()] = receiver.received;
    expect(JSON.parse(body)).to.deep.equal(content);
    expect(headers).to.include({ 'webhook-id': 'msg_r1_1', 'content-type': 'application/json' });
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).to.be.below(5);
    const signed = `msg_r1_1.${headers['webhook-timestamp']}.${body}`;
    const signatures = [7, 9].map((byte) =>
      createHmac('sha256', Buffer.alloc(32, byte)).update(signed).digest('base64'),
    );
    expect(headers['webhook-signature']).to.equal(signatures.map((each) => `v1,${each}`).join(' '));
    for (const secret of [SECRET, OTHER_SECRET]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).to.deep.equal(content);
    }
  });

  for (const status of [300, 301, 302, 307, 308, 400, 404, 410, 429, 500, 503]) {
    it(`is not acknowledged by ${status}, and follows no redirect`, async () => {
      receiver.answer = (response) =>
        void response.writeHead(status, { Location: `${receiver.url}/elsewhere` }).end('no');
      expect(await deliver()).to.equal(`DeliveryError: status ${status}`);
      expect(receiver.received.map(({ path }) => path)).to.deep.equal(['/']);
    });
  }

  it('is acknowledged by the status, and the next message does not wait for a body without end', async () => {
    receiver.answer = (response) => void response.writeHead(200).write('and');
    const sink = webhookSink({ url: receiver.url, secrets: parseSecrets(SECRET), allowPrivate: true });
    await sink.deliver([message, { ...message, id: 'msg_r1_2' }]);
    sink.close();
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).to.deep.equal([
      'msg_r1_1',
      'msg_r1_2',
    ]);
  });

  it('is not acknowledged by a receiver that hangs, closes the connection, or does not listen', async () => {
    receiver.answer = () => undefined;
    expect(await deliver({ timeoutMs: 100 })).to.equal('DeliveryError: no response within 100 ms');
    receiver.answer = (response) => void response.destroy();
    expect(await deliver()).to.equal('DeliveryError: ECONNRESET');
    expect(await deliver({ url: 'http://127.0.0.1:9' })).to.equal('DeliveryError: ECONNREFUSED');
    expect(await deliver({ url: receiver.url.replace('http', 'https') })).to.match(/^DeliveryError: /);
  });

  it('is acknowledged by the status, whatever the body is', async () => {
    receiver.answer = (response) => void response.writeHead(200).write('for ever');
    expect(await deliver()).to.equal('acknowledged');
  });

  it('goes to no private address without the option, however the address is written', async () => {
    const { port } = new URL(receiver.url);
    const hosts = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '10.0.0.1',
      '169.254.169.254',
      '[fd00:ec2::254]',
      '[::7f00:1]',
      '100.64.0.1',
    ];
    for (const host of hosts) {
      const url = `http://${host}:${port}`;
      expect(await deliver({ url, allowPrivate: false }), host).to.match(
        /^UsageError: --post: .* is a private address, which needs --allow-private\.$/,
      );
    }
    expect(await deliver({ url: `http://localhost:${port}`, allowPrivate: false })).to.contain(
      'is a private address',
    );
    expect(receiver.received).to.deep.equal([]);
  });

  it('is sent to the address that was checked, and not where the name leads a moment later', async () => {
    const asked: string[][] = [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::ffff:7f00:1'], []];
    const refused = [];
    for (const addresses of asked) {
      refused.push(
        await deliver({
          url: named().replace('http', 'https'),
          allowPrivate: false,
          resolve: resolvesTo(...addresses),
        }),
      );
    }
    expect(refused.map((each) => each.replace(/.*: /, ''))).to.deep.equal([
      '127.0.0.1 is a private address, which needs --allow-private',
      '127.0.0.1 is a private address, which needs --allow-private',
      '::ffff:7f00:1 is a private address, which needs --allow-private',
      'receiver.invalid has no address',
    ]);
    expect(receiver.received).to.deep.equal([]);
    expect(await deliver({ url: named(), resolve: resolvesTo('127.0.0.1') })).to.equal('acknowledged');
    expect(receiver.received).to.have.length(1);
  });

  it('does not cross the internet in plain text', async () => {
    expect(await deliver({ url: named(), resolve: resolvesTo('93.184.216.34') })).to.equal(
      'DeliveryError: 93.184.216.34 is a public address, which needs https',
    );
    expect(await deliver({ url: 'http://93.184.216.34/' })).to.equal(
      'UsageError: --post: 93.184.216.34 is a public address, which needs https.',
    );
  });

  it('needs one or two secrets of at least 24 bytes', () => {
    const short = `whsec_${Buffer.alloc(23).toString('base64')}`;
    for (const text of [
      '',
      '\n',
      'secret',
      short,
      SECRET.slice(6),
      `${SECRET} ${SECRET}`,
      [SECRET, SECRET, SECRET].join('\n'),
    ]) {
      expect(() => parseSecrets(text), text).to.throw(/^The secret file has one or two lines/);
    }
    expect(parseSecrets(`\r\n${SECRET}\r\n`)).to.have.length(1);
  });
});
