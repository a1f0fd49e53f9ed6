import { randomBytes } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import Koa from 'koa';
import { replayable } from '../../ingest/sources/replayable.js';
import { readIngestBody } from '../../services/gateway/ingest/body.js';
import { ADMISSION_LIMITS, Admission, noUsage } from '../../services/http/admission.js';
import { Problem } from '../../services/http/problems.js';
import { until } from '../support/until.js';

const MIB = 1024 * 1024;
/** gzip does not shrink random bytes. */
const zipped = (mib: number) => gzipSync(randomBytes(mib * MIB), { level: 0 });

describe('The room for temporary files', function () {
  this.timeout(60_000);
  const limits = {
    ...ADMISSION_LIMITS,
    temporaryBytes: { total: 34 * MIB, perOrganization: 20 * MIB, perKey: 14 * MIB },
  };
  const admission = new Admission(60_000, limits);
  let server: Server;

  before((done) => {
    const app = new Koa();
    // Requests whose clients disconnect.
    app.silent = true;
    app.use(async (ctx) => {
      const keyId = ctx.get('X-Api-Key');
      try {
        const bytes = await admission.run(
          ctx,
          { organizationId: keyId.slice(0, 1), keyId },
          async (admitted) => {
            const { chunks, temporarySpace, expectedBytes } = readIngestBody(ctx, admitted);
            const isHeld = ctx.query.on_reject === 'fail';
            const held = isHeld ? await replayable(chunks, temporarySpace, expectedBytes) : undefined;
            let count = 0;
            for await (const chunk of held?.read() ?? chunks) count += chunk.length;
            await held?.close();
            return count;
          },
        );
        ctx.body = `${bytes}`;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        ctx.status = error.status;
        ctx.body = error.message;
      }
    });
    server = createServer(app.callback()).listen(0, '127.0.0.1', done);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Sends a body without its last byte. */
  function send(
    key: string,
    body: Buffer,
    { query = '', headers = {} as Record<string, string | number> } = {},
  ) {
    const sending = request({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      method: 'POST',
      path: `/${query}`,
      headers: {
        'X-Api-Key': key,
        'Content-Type': 'application/x-ndjson',
        'Content-Encoding': query === '' ? 'gzip' : 'identity',
        ...headers,
      },
    });
    const answer = new Promise<string>((resolve, reject) => {
      sending.once('error', reject);
      sending.once('response', (response) => {
        let text = `${response.statusCode} `;
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('end', () => resolve(text));
      });
    });
    answer.catch(() => undefined);
    sending.write(body.subarray(0, -1));
    return { answer, end: () => sending.end(body.subarray(-1)), leave: () => sending.destroy() };
  }
  const taken = (bytes: number) =>
    until(() => admission.total.temporaryBytes >= bytes, `${bytes} bytes are in temporary files`);

  it('has a share for each organization and key, so that none stops the others', async () => {
    const first = send('a1', zipped(12));
    await taken(11 * MIB);
    const sameKey = await send('a1', zipped(12)).answer;
    expect(sameKey).to.match(/^503 Too many bytes of temporary files of this key are in use\. None of these/);
    const second = await send('a2', zipped(12)).answer;
    expect(second).to.match(/^503 Too many bytes of temporary files of this organization are in use\./);
    const elsewhere = send('b1', zipped(12), { query: '?on_reject=fail' });
    await taken(22 * MIB);
    const third = send('c1', zipped(7));
    await taken(29 * MIB);
    expect(await send('d1', zipped(7)).answer).to.match(
      /^503 Too many bytes of temporary files are in use\./,
    );
    for (const each of [first, elsewhere, third]) each.end();
    expect(await Promise.all([first, elsewhere, third].map(({ answer }) => answer))).to.deep.equal(
      [12 * MIB, zipped(12).length, 7 * MIB].map((bytes) => `200 ${bytes}`),
    );
    expect(admission.total.temporaryBytes).to.equal(0);
  });

  it('is refused at once to a body whose length is known, and is free again once a client has left', async () => {
    const first = send('a1', zipped(12));
    await taken(11 * MIB);
    for (const query of ['', '?on_reject=fail']) {
      const begun = send('a1', Buffer.alloc(2), { query, headers: { 'Content-Length': 12 * MIB } });
      expect(await begun.answer).to.match(/^503 Too many bytes of temporary files of this key/);
      begun.leave();
    }
    first.leave();
    await until(() => admission.total.temporaryBytes === 0, 'the room is free');
    const next = send('a1', zipped(12));
    next.end();
    expect(await next.answer).to.equal(`200 ${12 * MIB}`);
    await until(() => admission.total.requests === 0, 'every request is over');
    expect(admission.total).to.deep.equal(noUsage());
  });
});
