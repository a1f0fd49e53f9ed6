import { once } from 'node:events';
import { expect } from 'chai';
import { startTestGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { openSocket, parseAnswer } from '../support/raw-http.js';
import { until } from '../support/until.js';

const REQUEST_TIMEOUT_MS = 4000;

describe('An ingest request that its deadline ends', function () {
  this.timeout(60_000);
  const gateway = useOpened(() => startTestGateway({ requestTimeoutMs: REQUEST_TIMEOUT_MS }));

  const head = (bytes: number) =>
    [
      'POST /api/ingest/contacts HTTP/1.1',
      'Host: 127.0.0.1',
      `X-Api-Key: ${gateway.key}`,
      'Content-Type: application/x-ndjson',
      'Connection: close',
      `Content-Length: ${bytes}`,
      '\r\n',
    ].join('\r\n');
  const line = (id: string, fields: object = {}) => `${JSON.stringify({ contact_id: id, ...fields })}\n`;

  /** Sends the first lines, runs `next` once the record `id` in them is stored, and resolves with the response. */
  async function sendInParts(
    id: string,
    first: string,
    second: string,
    next: () => Promise<unknown> | undefined,
  ) {
    const socket = openSocket(gateway.url);
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    const closed = once(socket, 'close');
    socket.write(head(first.length + second.length + (second === '' ? 1 : 0)) + first);
    const stored = async () => {
      const { body } = await gateway.call('/api/contacts/get-many', {
        organization_id: 'org_a',
        contact_ids: [id],
      });
      return (body.contacts as unknown[]).length > 0;
    };
    await until(stored, 'the first records are stored');
    await next();
    socket.write(second);
    await closed;
    return parseAnswer(text);
  }

  it('says what was accepted and rejected where its body does not arrive (408)', async () => {
    const first = line('ended1') + line('ended2') + line('ended3', { age: -1 });
    const answer = await sendInParts('ended1', first, '', () => undefined);
    expect(answer.body, JSON.stringify(answer.body)).to.include({
      code: 'request_timeout',
      accepted: 2,
      rejected: 1,
    });
    expect(answer.body.errors).to.have.length(1);
    expect(answer.body.detail).to.contain('2 were accepted and 1 rejected');
  });

  it('says what was accepted and rejected where the store is too slow (504), and keeps the rejections', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hold = async () => void gateway.stores.records.pauseWrites?.(() => held);
    const first = line('ended6') + line('ended4', { age: -1 });
    const answer = await sendInParts('ended6', first, line('ended5'), hold);
    release();
    expect(answer.status).to.equal(504);
    expect(answer.body).to.include({ code: 'timeout', accepted: 1, rejected: 1 });
    const kept = async () => {
      const { body } = await gateway.call('/api/rejections/list', { organization_id: 'org_a' });
      const ids = (body.rejections as { record_id: string }[]).map(({ record_id }) => record_id);
      return ids.includes('ended4') && ids.includes('ended3');
    };
    await until(kept, 'the rejections are listed');
  });
});
