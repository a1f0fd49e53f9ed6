import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { useGateway } from '../support/gateway.js';
import { expectProblem } from '../support/problems.js';

type Line = Record<string, unknown> & { line?: number; accepted?: number; rejected?: number };

const LINES = 'application/x-ndjson';

describe('Lines of progress of ingest', function () {
  this.timeout(60_000);
  const gateway = useGateway();

  /** Sends chunks as they come, and reads lines as they arrive. */
  function upload(path: string, headers: Record<string, string> = {}) {
    const lines: Line[] = [];
    let status = 0;
    let type = '';
    const sending = request(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': LINES, Accept: LINES, 'X-Api-Key': gateway.key, ...headers },
    });
    const ended = new Promise<void>((resolve, reject) => {
      sending.once('error', reject);
      sending.once('response', (response) => {
        status = response.statusCode ?? 0;
        type = response.headers['content-type'] ?? '';
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          const parts = (rest + text).split('\n');
          rest = parts.pop() ?? '';
          lines.push(...parts.map((part) => JSON.parse(part) as Line));
        });
        response.once('end', resolve).once('error', reject);
      });
    });
    ended.catch(() => undefined);
    return {
      sending,
      ended,
      lines,
      get status() {
        return status;
      },
      get type() {
        return type;
      },
    };
  }
  const record = (prefix: string, index: number) => `{"contact_id":"${prefix}${index}","last_name":"N"}\n`;
  const isStored = async (contact_id: string) => {
    const body = { organization_id: 'org_a', contact_id };
    return (await gateway.call('/api/contacts/get', body)).status === 200;
  };
  /** Waits for the first line with the prefix. */
  async function firstLine(prefix: string, { sending, lines }: ReturnType<typeof upload>): Promise<number> {
    let sent = 0;
    while (lines.length === 0) {
      sending.write(Array.from({ length: 200 }, () => record(prefix, sent++)).join(''));
      await wait(100);
    }
    return sent;
  }

  it('come while the body arrives, and the last one is the response', async () => {
    const sent = upload('/api/ingest/contacts');
    const count = await firstLine('p', sent);
    expect(sent.type).to.match(/^application\/x-ndjson/);
    const [first] = sent.lines as [Line];
    expect(Object.keys(first)).to.have.members(['line', 'accepted', 'rejected']);
    expect(first.accepted).to.equal(first.line);
    sent.sending.end('{"contact_id":"!"}\n');
    await sent.ended;
    expect(sent.status).to.equal(200);
    const last = sent.lines.at(-1) as Line;
    expect(last).to.include({ stream: 'contacts', accepted: count, rejected: 1 });
    expect(last.errors).to.have.length(1);
  });

  it('say behind which line a broken upload goes on', async () => {
    const broken = upload('/api/ingest/contacts');
    await firstLine('broken-', broken);
    const { line = 0 } = broken.lines.at(-1) as Line;
    broken.sending.destroy();
    await broken.ended.catch(() => undefined);
    expect(line).to.be.greaterThan(0);
    expect(await isStored(`broken-${line - 1}`)).to.equal(true);
    expect(await isStored('broken-0')).to.equal(true);
  });

  it('end with the problem where something fails behind the first line', async () => {
    const sent = upload('/api/ingest/contacts');
    const count = await firstLine('fails-', sent);
    sent.sending.end(`${'{}\n'.repeat(10_001)}`);
    await sent.ended;
    expect(sent.status).to.equal(200);
    expect(sent.lines.at(-1)).to.include({ status: 422, code: 'records_rejected', accepted: count });
    const after = await gateway.ingest('contacts', [{ contact_id: 'after' }]);
    expect(after.body).to.include({ accepted: 1 });
  });

  it('are one line for a small body, and what fails before the first has its own status', async () => {
    const headers = { Accept: LINES };
    const small = await gateway.ingest('contacts', [{ contact_id: 'small' }], { headers });
    expect(small.text.trim().split('\n')).to.have.length(1);
    expect(JSON.parse(small.text)).to.include({ accepted: 1 });
    expectProblem(await gateway.ingest('nothing', [], { headers }), 404, 'stream_not_found');
    const failed = await gateway.ingest('contacts', [{}], { headers, ...{} });
    expect(JSON.parse(failed.text)).to.include({ rejected: 1 });
  });

  it('are sent only to clients that ask for them', async () => {
    for (const accept of ['application/json', '*/*', 'application/json, application/x-ndjson;q=0.5']) {
      const { headers } = await gateway.ingest('contacts', [{ contact_id: 'x' }], {
        headers: { Accept: accept },
      });
      expect(headers.get('content-type'), accept).to.match(/^application\/json/);
    }
    const csv = await gateway.ingest('contacts', [{ contact_id: 'x' }], { headers: { Accept: 'text/csv' } });
    expectProblem(csv, 406, 'not_acceptable');
  });

  it('count rows of CSV and of forms by the lines of the file', async () => {
    const boundary = 'b';
    const sent = upload('/api/ingest/contacts', {
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
    });
    sent.sending.write(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\ncontact_id,last_name\n`,
    );
    // The first 10 000 rows of a table settle its dates.
    const rows = 11_000;
    sent.sending.write(Array.from({ length: rows }, (_, row) => `csv-${row},"two\nlines"\n`).join(''));
    while (sent.lines.length === 0) await wait(100);
    const { line = 0, accepted = 0 } = sent.lines.at(-1) as Line;
    sent.sending.end(`\r\n--${boundary}--\r\n`);
    await sent.ended;
    expect(line, 'the last line of a row').to.equal(1 + 2 * accepted);
    expect(sent.lines.at(-1)).to.include({ accepted: rows });
  });
});
