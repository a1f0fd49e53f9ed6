import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { ConnectionError, createClient, type ExportFormat } from '../../services/client/index.js';
import { callerOf, useGateway } from '../support/gateway.js';
import { runs } from '../support/random.js';

const PEOPLE = 1500;

describe('An export of the client', function () {
  this.timeout(60_000);
  const gateway = useGateway(async ({ ingest }) => {
    await ingest(
      'contacts',
      Array.from({ length: PEOPLE }, (_, index) => ({
        ...{ contact_id: `c${index}`, first_name: index % 3 ? 'Ünï "x"\nrows, bytes' : '# 2 rows, 9 bytes' },
      })),
    );
  });
  const options = () => ({ url: gateway.url, apiKey: gateway.key, organizationId: 'org_a' });
  const raw = async (accept: string, body: object = {}) => {
    const { call } = callerOf(gateway.url, gateway.key);
    return call(
      '/api/contacts/search',
      { organization_id: 'org_a', ...body },
      { headers: { Accept: accept } },
    );
  };

  for (const format of ['csv', 'ndjson'] as const) {
    const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';

    it(`has the rows that the server counts, and is what others get who do not ask for it: ${format}`, async () => {
      const { total, stream, rows } = await createClient(options()).export(
        '/api/contacts/search',
        {},
        format,
      );
      const text = await new Response(stream).text();
      const plain = await raw(type);
      expect(text).to.equal(plain.text);
      expect([await rows, total]).to.deep.equal([PEOPLE, PEOPLE]);
      expect(plain.headers.get('Content-Type')).to.equal(`${type}; charset=utf-8`);
      const counted = await raw(`${type}; end=count`);
      expect(counted.headers.get('Content-Type')).to.equal(`${type}; charset=utf-8; end=count`);
      const end = `${PEOPLE} rows, ${Buffer.byteLength(plain.text)} bytes`;
      const line = format === 'csv' ? `# ${end}\r\n` : `{"end":"${end}"}\n`;
      expect(counted.text).to.equal(plain.text + line);
    });

    it(`of nothing has no rows: ${format}`, async () => {
      const client = createClient(options());
      const { stream, rows } = await client.export('/api/contacts/search', { city: 'Nowhere' }, format);
      expect(await new Response(stream).text()).to.equal((await raw(type, { city: 'Nowhere' })).text);
      expect(await rows).to.equal(0);
    });

    it(`is refused wherever it ends early, in whatever pieces it comes: ${format}`, async () => {
      const { text } = await raw(`${type}; end=count`, { query: 'ünï', first_name: 'rows' });
      const whole = Buffer.from(text);
      const pieces = fc.array(fc.nat({ max: whole.length }), { maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(
          pieces,
          fc.oneof(
            fc.constant(whole.length),
            fc.nat({ max: whole.length - 1 }),
            fc.integer({ min: whole.length - 100, max: whole.length }),
          ),
          async (cuts, end) => {
            const at = [0, ...cuts.filter((cut) => cut < end).sort((a, b) => a - b), end];
            const chunks = at.slice(1).map((to, index) => whole.subarray(at[index], to));
            const read = await readFrom(format, (response) => {
              for (const chunk of chunks) response.write(chunk);
              response.end();
            });
            if (end === whole.length) expect(read).to.include({ error: undefined });
            else expect(read.error, `cut at ${end} of ${whole.length}`).to.be.instanceOf(ConnectionError);
            expect(read.rows instanceof ConnectionError).to.equal(end !== whole.length);
          },
        ),
        { numRuns: runs(100) },
      );
    });
  }

  it('whose connection breaks, or that is silent, is a ConnectionError', async () => {
    const broken = await readFrom('csv', (response) => {
      response.write('id\r\n1\r\n');
      setTimeout(() => response.destroy(), 20);
    });
    expect(broken.error).to.be.instanceOf(ConnectionError);
    const silent = await readFrom('csv', (response) => response.write('id\r\n1\r\n'));
    expect(silent.error).to.be.instanceOf(ConnectionError).with.property('message').that.contains('200 ms');
  });

  it('goes on as long as something comes, and ends with the reason of its signal', async () => {
    const slow = await readFrom('csv', async (response) => {
      for (let row = 0; row < 8; row++) {
        response.write(`${'x'.repeat(98)}\r\n`);
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      response.end('# 8 rows, 800 bytes\r\n');
    });
    expect(slow).to.include({ error: undefined, rows: 8 });
    const abort = new AbortController();
    const left = readFrom(
      'csv',
      (response) => {
        response.write(`${'x'.repeat(998)}\r\n`);
        setTimeout(() => abort.abort(new Error('left')), 50);
      },
      abort.signal,
    );
    expect((await left).error).to.have.property('message', 'left');
  });

  /** Reads an export of a server that sends this response. */
  async function readFrom(
    format: ExportFormat,
    answer: (response: ServerResponse) => unknown,
    signal?: AbortSignal,
  ): Promise<{ error?: unknown; rows: unknown; text: string }> {
    const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    const server = createServer((_, response) => {
      response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8; end=count`, 'X-Total-Count': '8' });
      response.flushHeaders();
      void answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const client = createClient({ ...options(), url, timeoutMs: 200 });
      const { stream, rows } = await client.export('/api/contacts/search', {}, format, { signal });
      let text = '';
      let error: unknown;
      try {
        for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) text += Buffer.from(chunk);
      } catch (reason) {
        error = reason;
      }
      return { error, text, rows: await rows.catch((reason: unknown) => reason) };
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }
});
