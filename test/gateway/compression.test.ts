import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { useGateway } from '../support/gateway.js';

interface Raw {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

describe('Compression of responses', () => {
  const contacts = Array.from({ length: 200 }, (_, index) => ({
    contact_id: `con_${index}`,
    first_name: `Ada ${index}`,
  }));
  const gateway = useGateway(({ ingest }) => ingest('contacts', contacts));

  /** `fetch` would decompress. */
  function send(
    path: string,
    accepted: string | undefined,
    method = 'POST',
    body: object = {},
    more: Record<string, string> = {},
  ): Promise<Raw> {
    return new Promise((resolve, reject) => {
      const headers = {
        'X-Api-Key': gateway.key,
        'Content-Type': 'application/json',
        ...more,
        ...(accepted === undefined ? {} : { 'Accept-Encoding': accepted }),
      };
      const sent = request(`${gateway.url}${path}`, { method, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
          }),
        );
      });
      sent.on('error', reject);
      sent.end(method === 'POST' ? JSON.stringify(body) : undefined);
    });
  }
  const search = (accepted: string | undefined, limit: number) =>
    send('/api/contacts/search', accepted, 'POST', { organization_id: 'org_a', limit });

  it('sends the same headers and bytes, whether a client names identity or no encoding', async () => {
    // Headers whose values differ from one request to the next.
    const NAMES_ONLY = ['x-request-id', 'date', 'ratelimit', 'server-timing'];
    const compared = ({ status, headers, bytes }: Raw) => ({
      status,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, NAMES_ONLY.includes(name) ? '' : value]),
      ),
      text: bytes.toString(),
    });
    for (const limit of [1, 50]) {
      expect(compared(await search(undefined, limit))).to.deep.equal(
        compared(await search('identity', limit)),
      );
    }
  });

  it('sends br or gzip, whichever the client prefers, and br where it does not say', async () => {
    const plain = await search(undefined, 50);
    expect(plain.headers).to.include({
      vary: 'Accept-Encoding',
      'content-length': String(plain.bytes.length),
    });
    expect(plain.headers).not.to.have.property('content-encoding');
    const cases = {
      'gzip, deflate, br': 'br',
      gzip: 'gzip',
      'br;q=0.1, gzip': 'gzip',
      '*': 'br',
      'br;q=0, *': 'gzip',
    };
    for (const [accepted, encoding] of Object.entries(cases)) {
      const { headers, bytes } = await search(accepted, 50);
      expect(headers, accepted).to.include({
        'content-encoding': encoding,
        vary: 'Accept-Encoding',
        'content-length': String(bytes.length),
        'content-type': 'application/json; charset=utf-8',
      });
      expect(bytes.length).to.be.below(plain.bytes.length / 4);
      expect(DECODERS[encoding]?.(bytes).equals(plain.bytes), accepted).to.equal(true);
    }
  });

  it('leaves responses as they are for clients that accept no encoding we have, and those below 1 kB', async () => {
    for (const accepted of ['identity', 'zstd', 'gzip;q=0, br;q=0', '']) {
      expect((await search(accepted, 50)).headers).not.to.have.property('content-encoding');
    }
    const { headers } = await send('/livez', 'br', 'GET');
    expect(headers).not.to.have.property('content-encoding');
    expect(headers).not.to.have.property('vary');
  });

  it('compresses large responses, and problems', async () => {
    const plain = await search(undefined, 200);
    expect(plain.bytes.length).to.be.above(64 * 1024);
    expect(gunzipSync((await search('gzip', 200)).bytes).equals(plain.bytes)).to.equal(true);
    const body = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`unknown_${index}`, 1]));
    const { status, headers, bytes } = await send('/api/contacts/search', 'gzip', 'POST', body);
    expect(status).to.equal(422);
    expect(headers).to.include({
      'content-encoding': 'gzip',
      'content-type': 'application/problem+json; charset=utf-8',
    });
    expect(JSON.parse(String(gunzipSync(bytes)))).to.have.property('code', 'validation_failed');
  });

  it('sends the headers of GET for HEAD', async () => {
    const got = await send('/openapi.json', 'gzip', 'GET');
    const head = await send('/openapi.json', 'gzip', 'HEAD');
    expect(head.bytes.length).to.equal(0);
    for (const name of ['content-encoding', 'content-length', 'etag', 'vary', 'content-type']) {
      expect(head.headers[name], name).to.equal(got.headers[name]);
    }
  });

  it('shares a weak ETag between the encodings, and answers a conditional request with 304', async () => {
    const [plain, gzip, br] = await Promise.all(
      [undefined, 'gzip', 'br'].map((accepted) => send('/openapi.json', accepted, 'GET')),
    );
    expect(plain?.headers.etag).to.match(/^W\/"/);
    expect(gzip?.headers.etag).to.equal(plain?.headers.etag);
    expect(br?.headers.etag).to.equal(plain?.headers.etag);
    const { status, headers } = await send(
      '/openapi.json',
      'gzip',
      'GET',
      {},
      { 'If-None-Match': gzip?.headers.etag as string },
    );
    expect(status).to.equal(304);
    expect(headers.etag).to.equal(gzip?.headers.etag);
    expect(headers.vary).to.equal('Host, X-Forwarded-Proto, Accept-Encoding');
  });
});
