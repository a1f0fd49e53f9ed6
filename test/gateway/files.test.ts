/** Files as spreadsheets and other tools write them, sent unchanged. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import xxhash from 'xxhash-wasm';
import { compressZstd } from '../support/compress.js';
import { type CallOptions, useGateway } from '../support/gateway.js';
import { expectProblem } from '../support/problems.js';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const CSV = { 'Content-Type': 'text/csv' };

describe('A file of another tool', () => {
  const gateway = useGateway();
  const file = (name: string) => readFileSync(`test/data/files/${name}`);
  const send = (
    stream: string,
    query: string,
    raw: CallOptions['raw'],
    headers: Record<string, string> = CSV,
  ) => gateway.call(`/api/ingest/${stream}?${query}`, undefined, { raw, headers });
  const contact = async (id: string) => {
    const { body } = await gateway.call('/api/contacts/get', { organization_id: 'org_a', contact_id: id });
    return body.contact as Record<string, unknown>;
  };

  it('may end its lines with CR alone', async () => {
    const people = await send('contacts', 'map=auto&on_reject=fail', file('01-cr-only-hubspot.csv'));
    expect(people.body, people.text).to.include({ accepted: 2, rejected: 0, preset: 'hubspot/contacts' });
    expect(await contact('2')).to.deep.include({ first_name: 'Bob', work_emails: ['bob@beta.example'] });
    const last = await send('contacts', 'map=hubspot/contacts', file('01b-cr-only-used-column-last.csv'));
    expect(last.body, last.text).to.include({ accepted: 2, rejected: 0 });
    const days = await send(
      'network-a-deliveries',
      'map=auto&dry_run=true',
      file('01-cr-only-linkedin-ads.csv'),
    );
    expect(days.body.records, days.text).to.have.length(1);
    expect((days.body.records as { record: object }[])[0]?.record).to.include({
      date: '2026-09-13',
      campaign_id: '77',
      ad_spend: '9.50',
      impressions: 300,
    });
  });

  it('loses no person behind ten thousand empty rows, which count as nothing', async () => {
    for (const row of [',,,', '"","","",""', ' , , , ']) {
      const text = `Record ID,First Name,Last Name,Email\n1,A,B,a@b.example\n${`${row}\n`.repeat(10_001)}2,C,D,c@d.example\n`;
      const { body } = await send('contacts', 'map=hubspot/contacts&on_reject=fail', text);
      expect(body).to.include({ accepted: 2, rejected: 0, skipped: 0 });
    }
  });

  it('is refused where it has no row, and says what to look at', async () => {
    const empty = await send('contacts', 'map=hubspot/contacts', 'Record ID,Email\n,\n,\n');
    expectProblem(empty, 400, 'invalid_body');
    expect(empty.body.detail).to.match(/^The file has a header and no row with a value behind it\./);
  });

  it('keeps the rows around one that is too long', async () => {
    const rows = Array.from({ length: 50 }, (_, at) => `r${at},${at === 20 ? 'x'.repeat(1_100_000) : 'Ann'}`);
    const { body } = await send('contacts', '', `contact_id,first_name\r${rows.join('\r')}\r`);
    expect(body).to.include({ accepted: 49, rejected: 1 });
    expect(body).to.nested.include({ 'errors[0].line': 22, 'errors[0].code': 'line_too_long' });
  });

  it('finds no room for temporary files: nothing is taken, and the next file is', async () => {
    const { TMPDIR } = process.env;
    const noise = Array.from({ length: 5 }, () => randomBytes(1024 * 1024).toString('base64')).join('');
    const lines = noise.replace(/.{800}/g, (text, at) => `{"contact_id":"room-${at}","notes":"${text}"}\n`);
    const raw = lines.slice(0, lines.lastIndexOf('\n'));
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const zipped = { ...headers, 'Content-Encoding': 'gzip' };
    try {
      process.env.TMPDIR = '/a-folder/that-is-missing';
      const answers = [
        await send('contacts', 'unknown_fields=ignore', gzipSync(raw), zipped),
        await send('contacts', 'unknown_fields=ignore&on_reject=fail', raw, headers),
      ];
      for (const answer of answers) {
        expectProblem(answer, 503, 'overloaded');
        expect(answer.body.detail).to.match(/temporary files.+None of these records was accepted/);
      }
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
    expect(await contact('room-0')).to.equal(undefined);
    const again = await send('contacts', 'unknown_fields=ignore', gzipSync(raw), zipped);
    expect(again.body, again.text).to.include({ rejected: 0 });
  });

  it('may have the charset that the request says, and proposes one where it is not UTF-8', async () => {
    const western = file('contacts-windows-1252.csv');
    const refused = await send('contacts', 'dry_run=true', western);
    expect(refused.body, refused.text).to.deep.include({
      rejected: 2,
      proposed: { charset: 'windows-1252' },
    });
    const header = await send('contacts', '', Buffer.from('contact_id,Städte\n1,a\n', 'latin1'));
    expectProblem(header, 422, 'validation_failed');
    expect(header.body.proposed).to.deep.equal({ charset: 'windows-1252' });
    expect(header.body.detail).to.match(/Perhaps it must be read with \?charset=windows-1252\.$/);
    for (const [query, type] of [
      ['charset=windows-1252', 'text/csv'],
      ['charset=ISO-8859-1', 'text/csv'],
      ['', 'text/csv; charset="Windows-1252"'],
      ['charset=cp1252', 'text/csv; charset=utf-8'],
    ] as const) {
      const { body } = await send('contacts', query, western, { 'Content-Type': type });
      expect(body, `${query} ${type}`).to.include({ accepted: 2, rejected: 0 });
      expect(await contact('2')).to.include({ first_name: '“Quoted”', last_name: 'Š€', city: 'Zürich' });
    }
    for (const [name, charset, first_name, city] of [
      ['windows-1251', 'windows-1251', 'Анна', 'Москва'],
      ['shift-jis', 'Shift_JIS', '花子', '表参道'],
      ['macintosh', 'macintosh', 'José', 'Köln'],
    ] as const) {
      const { body } = await send('contacts', `charset=${charset}`, file(`contacts-${name}.csv`));
      expect(body, name).to.include({ accepted: 1, rejected: 0 });
      expect(await contact('1'), name).to.include({ first_name, city });
    }
    // Cyrillic text is not proposed to be Western.
    const cyrillic = await send('contacts', 'dry_run=true', file('contacts-windows-1251.csv'));
    expect(cyrillic.body).not.to.have.property('proposed');
    const none = await send('contacts', 'charset=klingon', western);
    expectProblem(none, 422, 'validation_failed');
    expect(none.body).to.nested.include({
      'errors[0].pointer': '?charset',
      'errors[0].code': 'unknown_charset',
    });
    const wrong = await send('contacts', 'charset=shift_jis', western);
    expectProblem(wrong, 400, 'invalid_body');
    expect(wrong.body.detail).to.match(/^The text is not in shift_jis/);
    // A byte order mark takes precedence over a declaration.
    const marked = await send('contacts', 'charset=windows-1252', '\ufeffcontact_id,city\nbom,Köln\n');
    expect(marked.body).to.include({ accepted: 1 });
    expect(await contact('bom')).to.include({ city: 'Köln' });
  });

  it('may have lines before its header, which the request names and a dry run proposes', async () => {
    const text =
      'Contacts of the fair,,\nExported 2026-11-01,,\n,,\ncontact_id,first_name,city\nhr1,Ann,Ulm\nhr2,Bob,\n';
    const refused = await send('contacts', 'dry_run=true', text);
    expectProblem(refused, 422, 'validation_failed');
    expect(refused.body.proposed).to.deep.equal({ header_row: 4 });
    const { body } = await send('contacts', 'header_row=4&on_reject=fail', text);
    expect(body).to.include({ accepted: 2, rejected: 0 }).and.not.to.have.property('proposed');
    const late = await send('contacts', 'header_row=40', text);
    expect(late.body.detail).to.match(/^The file has no row 40/);
    const bad = await send('contacts', 'header_row=4', `${text}hr3,x,y,z\n`);
    expect(bad.body).to.nested.include({ rejected: 1, 'errors[0].line': 7 });
    for (const value of ['0', '-1', 'x', '1001']) {
      expectProblem(await send('contacts', `header_row=${value}`, text), 422, 'validation_failed');
    }
    const plain = await send('contacts', 'dry_run=true', 'contact_id,first_name\nhr4,Ann\n');
    expect(plain.body).not.to.have.property('proposed');
  });

  it('may be a workbook, of which the first visible sheet is read', async () => {
    const type = { 'Content-Type': XLSX };
    const people = await send('contacts', 'header_row=3', file('contacts-openpyxl.xlsx'), type);
    expect(people.body, people.text).to.include({ accepted: 2, rejected: 1 });
    expect(people.body).to.nested.include({ 'errors[0].line': 4, 'errors[0].pointer': '/created_at' });
    expect(await contact('x2')).to.include({ last_name: 'Line\nBreak', city: '東京', age: 39 });
    const proposed = await send('contacts', 'dry_run=true', file('contacts-openpyxl.xlsx'), type);
    expect(proposed.body.proposed).to.deep.equal({ header_row: 3 });
    const report = await send('network-a-deliveries', '', file('deliveries-xlsxwriter.xlsx'), type);
    expect(report.body, report.text).to.include({ accepted: 3, rejected: 0 });
    const check = await send('network-a-deliveries/check', '', file('deliveries-xlsxwriter.xlsx'), {
      'Content-Type': 'application/octet-stream',
    });
    expect(check.body, check.text).to.deep.include({ format: 'xlsx', media_type: XLSX, questions: [] });
    expectProblem(await send('contacts', '', 'a,b\n', type), 400, 'invalid_body');
  });

  describe('compressed', () => {
    const NDJSON = 'application/x-ndjson';
    const sendAs = (encoding: string, raw: Buffer) =>
      send('contacts', '', raw, { 'Content-Type': NDJSON, 'Content-Encoding': encoding });
    /** Longer than what is held in memory, with the first record in the first block. */
    const large = (prefix: string) =>
      Buffer.from(
        Array.from(
          { length: 8_000 },
          (_, at) => `{"contact_id":"${prefix}${at}","last_name":"${`${at * 7919}`.repeat(100)}"}\n`,
        ).join(''),
      );
    /** As `zstd --check` writes it: a frame with the flag, and the given checksum after its blocks. */
    const checked = (frame: Buffer, checksum: number) => {
      const bytes = Buffer.concat([frame, Buffer.alloc(4)]);
      bytes.writeUInt8((bytes[4] as number) | 4, 4);
      bytes.writeUInt32LE(checksum, frame.length);
      return bytes;
    };

    it('is refused before a record of it is stored where its checksum does not match', async () => {
      const flipped = await sendAs('zstd', file('06-checksum-fails.ndjson.zst'));
      expectProblem(flipped, 400, 'invalid_body');
      expect(flipped.body.detail).to.equal(
        'The body is zstd encoded, but its checksum does not match its content.',
      );
      for (const size of ['small', 'large']) {
        const text = size === 'small' ? Buffer.from('{"contact_id":"zs0"}\n') : large('zl');
        const zstd = await sendAs('zstd', checked(await compressZstd(text), 1));
        expectProblem(zstd, 400, 'invalid_body');
        const gzip = gzipSync(text.toString().replaceAll('"z', '"g'));
        gzip.writeUInt8((gzip[gzip.length - 8] as number) ^ 1, gzip.length - 8);
        expectProblem(await sendAs('gzip', gzip), 400, 'invalid_body');
        expectProblem(await sendAs('gzip', gzip.subarray(0, -9)), 400, 'invalid_body');
      }
      for (const id of ['zs0', 'zl0', 'gs0', 'gl0']) expect(await contact(id), id).to.equal(undefined);
    });

    it('is taken where it does, also where it is held outside of memory', async () => {
      const text = large('ok');
      const { h64Raw } = await xxhash();
      const frame = checked(await compressZstd(text), Number(BigInt.asUintN(32, h64Raw(text))));
      expect((await sendAs('zstd', frame)).body).to.include({ accepted: 8_000, rejected: 0 });
      const random = Buffer.concat([
        text,
        Buffer.from(`{"contact_id":"last","last_name":"${noise(8_000_000)}`),
      ]);
      const { body } = await sendAs(
        'gzip',
        gzipSync(Buffer.concat([random, Buffer.from('"}\n{"contact_id":"end"}')])),
      );
      expect(body).to.include({ accepted: 8_001, rejected: 1 });
      expect(await contact('end')).to.include({ contact_id: 'end' });
    });
  });
});

/** Letters that hardly compress. */
const noise = (length: number) => randomBytes(length / 2).toString('hex');
