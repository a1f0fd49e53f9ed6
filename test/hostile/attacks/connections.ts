import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { closed, sendBytes } from '../../support/raw-http.js';
import { flood, jsonText, openStalled, requestText } from '../raw-connections.js';
import { REQUEST_TIMEOUT_MS } from '../target.js';
import { type Attack, encoded } from './attack.js';

const STALLED_UPLOADS = 1100;
/** Number of connections that leave at once. */
const WAVE = 50;

export const connectionAttacks: Attack[] = [
  {
    title: '1 100 uploads stall after their first byte',
    async run({ url, key }) {
      const json = jsonText('/api/contacts/search', key, '{', 100);
      const headers = { ...encoded('gzip'), 'X-Api-Key': key, 'Content-Length': 100 };
      const firstByte = gzipSync('{').subarray(0, 1).toString('latin1');
      const records = requestText('/api/ingest/contacts', headers, firstByte);
      const sockets = [
        ...(await openStalled(url, STALLED_UPLOADS / 2, json)),
        ...(await openStalled(url, STALLED_UPLOADS / 2, records)),
      ];
      await Promise.all(sockets.map(closed));
    },
  },
  {
    title: '500 connections send their headers slowly',
    nightly: true,
    async run({ url }) {
      const sockets = await openStalled(url, 500, 'POST /api/contacts/search HTTP/1.1\r\nHost: a\r\n');
      const timer = setInterval(() => {
        for (const socket of sockets) if (!socket.closed) socket.write('X: y\r\n');
      }, 500);
      // The attack is to hold connections while time passes.
      await pause(REQUEST_TIMEOUT_MS);
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    title: '2 000 connections leave before their answer',
    async run({ url, key }) {
      const body = JSON.stringify({ organization_id: 'org_hostile', query: 'name family', limit: 100 });
      const text = jsonText('/api/contacts/search', key, body);
      for (let opened = 0; opened < 2000; opened += WAVE) {
        // The next wave follows when the server has accepted the wave before: the test does not try the backlog of the operating system.
        await acceptedAll(url);
        const sockets = await openStalled(url, WAVE, text);
        for (const socket of sockets) {
          if (socket.connecting) socket.once('connect', () => setImmediate(() => socket.destroy()));
          else socket.destroy();
        }
        await Promise.all(sockets.map(closed));
      }
    },
  },
  {
    title: 'operational endpoints are asked without a key, 32 at once',
    async run({ url }) {
      const paths = ['/metrics', '/readyz', '/openapi.json', '/docs', '/version'];
      const texts = Array.from({ length: 5000 }, (_, index) =>
        requestText(paths[index % paths.length] as string, {}, '', 'GET'),
      );
      const statuses = await flood(url, texts, { connections: 16, pipelined: 2 });
      expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).to.deep.equal([]);
    },
  },
];

/** Resolves when the server has accepted every connection before this one. */
async function acceptedAll(url: string): Promise<void> {
  const request = requestText('/livez', { Connection: 'close' }, '', 'GET');
  expect(await sendBytes(url, [request])).to.match(/^HTTP\/1\.1 200 /);
}
