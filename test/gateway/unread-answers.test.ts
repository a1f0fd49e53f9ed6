import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Context } from 'koa';
import { ADMISSION_LIMITS, Admission, type AdmittedRequest } from '../../services/http/admission.js';
import type { Problem } from '../../services/http/problems.js';
import { until } from '../support/until.js';

const ANSWER = Buffer.alloc(8 * 1024 * 1024);

describe('Responses that clients do not read', () => {
  const limits = {
    ...ADMISSION_LIMITS,
    responseBytes: {
      total: 3 * ANSWER.length,
      perOrganization: 3 * ANSWER.length,
      perKey: 2 * ANSWER.length,
    },
  };
  const admission = new Admission(60_000, limits);
  const sockets: Socket[] = [];
  let server: Server;

  before((done) => {
    server = createServer((req, res) => {
      const caller = { organizationId: 'org_a', keyId: String(req.headers['x-api-key']) };
      const answer = async (request: AdmittedRequest) => {
        request.countResponse(ANSWER.length, { isRead: req.method === 'GET' });
        res.end(ANSWER);
      };
      admission.run({ req, res, state: {} } as unknown as Context, caller, answer).catch((error: Problem) => {
        res.statusCode = error.status;
        res.end();
      });
    }).listen(0, '127.0.0.1', done);
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  /** The status, and the socket, from which nothing more is read. */
  const ask = (key: string, method = 'GET') =>
    new Promise<[status: string, socket: Socket]>((resolve) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      sockets.push(socket);
      socket.write(`${method} / HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${key}\r\n\r\n`);
      socket.once('readable', () => resolve([String(socket.read(12)), socket]));
    });

  it('are bounded per key and in total, and released when the clients disconnect', async () => {
    const [OK, FULL] = ['HTTP/1.1 200', 'HTTP/1.1 503'];
    const [first, second] = [await ask('a'), await ask('a')];
    expect([first[0], second[0], (await ask('a'))[0]]).to.deep.equal([OK, OK, FULL]);
    expect([(await ask('b'))[0], (await ask('c'))[0]]).to.deep.equal([OK, FULL]);
    // The write has already happened, so its response is sent whatever is unread.
    const written = await ask('a', 'POST');
    expect(written[0]).to.equal(OK);
    written[1].destroy();
    first[1].destroy();
    await until(() => admission.total.responseBytes <= 2 * ANSWER.length, 'the unread response is released');
    expect((await ask('c'))[0]).to.equal(OK);
  });
});
