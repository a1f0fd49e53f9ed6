import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ADMISSION_LIMITS } from '../../services/http/admission.js';
import { startTestGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { sendBytes } from '../support/raw-http.js';

const SEARCH = '/api/contacts/search';
const INTAKE = '/api/ingest/contacts';
const organization = { organization_id: 'org_a' };
/** One body more than a key may send at once. All tests together send more bodies than all keys may send. */
const STALLED = ADMISSION_LIMITS.bodies.perKey + 1;

const gzipped = gzipSync(`{"contact_id":"${'a'.repeat(100)}"}\n`).subarray(0, -8);

/** A request whose body begins and never ends. */
const BODIES: [name: string, path: string, headers: string[], begun: string | Buffer][] = [
  ['with a Content-Length', SEARCH, ['Content-Type: application/json', 'Content-Length: 100'], '{'],
  ['in chunks', SEARCH, ['Content-Type: application/json', 'Transfer-Encoding: chunked'], '1\r\n{\r\n'],
  ['of lines', INTAKE, ['Content-Type: application/x-ndjson', 'Content-Length: 100'], '{'],
  ['of an array', INTAKE, ['Content-Type: application/json', 'Content-Length: 100'], '[{'],
  [
    'of lines in chunks',
    INTAKE,
    ['Content-Type: application/x-ndjson', 'Transfer-Encoding: chunked'],
    '1\r\n{\r\n',
  ],
  [
    'of gzip',
    INTAKE,
    ['Content-Type: application/x-ndjson', 'Content-Encoding: gzip', 'Content-Length: 10000'],
    gzipped,
  ],
];

describe('Bodies that never end', function () {
  this.timeout(60_000);
  const gateway = useOpened(() => startTestGateway({ requestTimeoutMs: 1000 }));

  for (const [name, path, headers, begun] of BODIES) {
    it(`do not block other requests when sent ${name} to ${path}`, async () => {
      const head = [
        `POST ${path} HTTP/1.1`,
        'Host: 127.0.0.1',
        `X-Api-Key: ${gateway.key}`,
        ...headers,
        '\r\n',
      ].join('\r\n');
      const answers = await Promise.all(
        Array.from({ length: STALLED }, () => sendBytes(gateway.url, [head, begun])),
      );
      for (const text of answers) expect(text).to.match(/^HTTP\/1\.1 (408|503) /);
      expect(answers.some((text) => text.startsWith('HTTP/1.1 408'))).to.equal(true);
      const answer = await gateway.call(SEARCH, organization);
      expect(answer.status, answer.text).to.equal(200);
      const written = await gateway.ingest('contacts', [{ contact_id: 'a' }]);
      expect(written.status, written.text).to.equal(200);
    });
  }

  it('are told from a large body that goes on arriving for longer than the deadline', async () => {
    const record = Buffer.from(`{"contact_id":"slow","last_name":"${'x'.repeat(990)}"}\n`);
    const mebibyte = Buffer.concat(Array(1100).fill(record));
    const body = new ReadableStream({
      async start(controller) {
        for (let part = 0; part < 5; part++) {
          controller.enqueue(mebibyte);
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
        controller.close();
      },
    });
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const answer = await gateway.call(`${INTAKE}?dry_run=true`, undefined, { raw: body, headers });
    expect(answer.body, answer.text).to.include({ accepted: 5500, rejected: 0 });
  });
});
