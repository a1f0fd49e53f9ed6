import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import type { SourceRecord } from '../../ingest/mapping/mapping.js';
import { openText, type TextOptions } from '../../ingest/sources/text.js';
import { runs } from '../support/random.js';
import { workbook } from '../support/zip.js';

async function read(file: Buffer, options: TextOptions = {}): Promise<[number, SourceRecord | string][]> {
  const text = await openText(Readable.from([file.subarray(0, 7), file.subarray(7)]), 'xlsx', options);
  const found: [number, SourceRecord | string][] = [];
  for await (const records of text.records) {
    for (const { line, value, overlong, rejection } of records) {
      if (overlong === 'piece') continue;
      found.push([line, overlong ? 'too long' : (rejection?.code ?? (value as SourceRecord))]);
    }
  }
  return found;
}

const problemOf = (file: Buffer, options?: TextOptions) =>
  read(file, options).then(
    () => null,
    ({ name, message }: Error) => `${name}: ${message}`,
  );

const escaped = (text: string) =>
  text.replace(/[<>&"]/g, (letter) => `&#${letter.charCodeAt(0)};`).replaceAll('\r', '&#13;');
const inline = (text: string) => `<c t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`;

describe('A sheet of an XLSX file', () => {
  it('has the rows of the first visible sheet, with its days, digits and line breaks', async () => {
    const file = readFileSync('test/data/files/contacts-openpyxl.xlsx');
    expect(await read(file, { headerRow: 3 })).to.deep.equal([
      [
        4,
        {
          contact_id: '1234567890123',
          first_name: 'Zoë',
          last_name: 'Müller, Dr.',
          work_emails: 'zoe@acme.example',
          age: '41',
          dob: '1984-02-29',
          city: 'Köln "Mitte"',
          created_at: '2026-03-01 14:05:00',
        },
      ],
      [6, { contact_id: 'x2', first_name: 'Łukasz', last_name: 'Line\nBreak', age: '39', city: '東京' }],
      [7, { contact_id: '003', last_name: 'O’Neil' }],
    ]);
    const report = readFileSync('test/data/files/deliveries-xlsxwriter.xlsx');
    expect(await read(report)).to.deep.equal(
      [
        // A point before three digits could be a thousands separator.
        ['2026-09-13', '1.2340', '300', '1'],
        ['2026-09-14', '1234567.1', '1000000', '0'],
        ['2026-09-15', '0.3', '0', '0'],
      ].map(([date, ad_spend, impressions, clicks], at) => [
        at + 2,
        { date, campaign_id: '77', creative_id: '9', ad_spend, impressions, clicks },
      ]),
    );
  });

  it('writes numbers with all their digits, times by their format, and texts that are shared or escaped', async () => {
    const styles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-407]d\\. mmm yyyy;@"/><numFmt numFmtId="165" formatCode="0.0&quot; days&quot;"/><numFmt numFmtId="166" formatCode="[h]:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${[0, 14, 22, 20, 164, 165, 166].map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs></styleSheet>`;
    const strings =
      '<sst><si><t>plain</t></si><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>no</t></rPh></si><si><t>a_x000D_b</t></si><si/></sst>';
    const cells: [xml: string, value: string | undefined][] = [
      ['<c><v>1.23456789E+8</v></c>', '123456789'],
      ['<c><v>12345678901234567</v></c>', '12345678901234567'],
      ['<c><v>1.2345678901234501E+17</v></c>', '1.2345678901234501E+17'],
      ['<c><v>1.1000000000000001</v></c>', '1.1'],
      ['<c><v>-1.5E-7</v></c>', '-0.00000015'],
      ['<c s="1"><v>60</v></c>', '1900-02-28'],
      ['<c s="1"><v>1</v></c>', '1900-01-01'],
      ['<c s="2"><v>46278.586805555555</v></c>', '2026-09-13 14:05:00'],
      ['<c s="3"><v>0.75</v></c>', '18:00:00'],
      ['<c s="4"><v>46278</v></c>', '2026-09-13'],
      ['<c s="5"><v>2.5</v></c>', '2.5'],
      ['<c s="6"><v>1.5</v></c>', '1.5'],
      ['<c t="s"><v>0</v></c>', 'plain'],
      ['<c t="s"><v>1</v></c>', 'rich text'],
      ['<c t="s"><v>2</v></c>', 'a\nb'],
      ['<c t="s"><v>3</v></c>', undefined],
      ['<c t="s"><v>99</v></c>', undefined],
      ['<c t="str"><f>A1&amp;B1</f><v>of a formula</v></c>', 'of a formula'],
      ['<c t="b"><v>1</v></c>', 'true'],
      ['<c t="e"><v>#N/A</v></c>', '#N/A'],
      ['<c t="d"><v>2026-09-13T00:00:00Z</v></c>', '2026-09-13'],
    ];
    const rows = cells.map(([xml]) => `<row>${xml}</row>`).join('');
    const file = workbook(`<row>${inline('a')}</row>${rows}`, {
      'xl/styles.xml': styles,
      'xl/sharedStrings.xml': strings,
    });
    expect(await read(file)).to.deep.equal(
      cells.flatMap(([, value], at) => (value === undefined ? [] : [[at + 2, { a: value }]])),
    );
  });

  it('has every text as it is, in the row and column where it is', async () => {
    const unit = fc.constantFrom('a', '"', ',', ';', '\n', 'é', '表', '<', '&', "'", '=', ' ', '😀');
    const cell = fc.string({ unit, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 6 }),
        async (rows) => {
          const xml = rows.map((cells) => `<row>${cells.map(inline).join('')}</row>`).join('<row/>');
          const file = workbook(`<row>${['a', 'b', 'c'].map(inline).join('')}</row>${xml}`);
          const expected = rows.flatMap((cells, at) => {
            const values = cells.flatMap((text, index) => {
              const value = text.trim().replace(/^'(?='*[=+\-@\t\r\n])/, '');
              return value === '' ? [] : [['abc'[index], value]];
            });
            const isBlank = cells.every((text) => text.trim() === '');
            return isBlank ? [] : [[2 * at + 2, Object.fromEntries(values)]];
          });
          const found = rows.length > 0 && expected.length === 0 ? [] : await read(file);
          expect(found).to.deep.equal(expected);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it('is refused where it is damaged or no workbook, before a row is read', async () => {
    const good = `<row>${inline('a')}</row><row>${inline('1')}</row>`;
    const whole = workbook(good);
    expect(await problemOf(whole)).to.equal(null);
    expect(await problemOf(workbook(good, {}, { wrongBy: 1 }))).to.match(/checksum does not match/);
    for (const file of [
      Buffer.from('a,b\n1,2\n'),
      Buffer.alloc(0),
      whole.subarray(0, -30),
      workbook(`${good}<row`),
      workbook('<row r="2"/><row r="1"/>'),
      workbook('<row r="9999999"/>'),
      workbook(good, {
        'xl/_rels/workbook.xml.rels':
          '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="http://["/></Relationships>',
      }),
      workbook('<row><c r="B1"/><c r="A1"/></row>'),
      workbook('<row><c r="XFE1"/></row>'),
      workbook(`<!DOCTYPE x [<!ENTITY a "b">]><row><c t="str"><v>&a;</v></c></row>`),
    ]) {
      expect(await problemOf(file)).to.match(/^UnreadableInputError: The file cannot be read as XLSX: /);
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 255 }), async (place, change) => {
        const broken = Buffer.from(whole);
        broken.writeUInt8((broken[place % broken.length] as number) ^ change, place % broken.length);
        const rows = await read(broken).catch(({ name }: Error) => name);
        if (Array.isArray(rows)) expect(rows).to.deep.equal([[2, { a: '1' }]]);
        else expect(rows).to.be.oneOf(['UnreadableInputError', 'ColumnsError']);
      }),
      { numRuns: runs(200) },
    );
  });

  it('is read at once, whatever a format of numbers looks like', async () => {
    const format = '['.repeat(500_000);
    const styles = `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="${format}"/></numFmts></styleSheet>`;
    const rows = `<row>${inline('a')}</row><row>${inline('1')}</row>`;
    expect(await read(workbook(rows, { 'xl/styles.xml': styles }))).to.deep.equal([[2, { a: '1' }]]);
  });

  it('has no value where a formula was never calculated, and says so as a spreadsheet does', async () => {
    const rows = `<row>${inline('a')}${inline('b')}${inline('c')}</row><row><c><f>1+1</f></c><c><f>2+2</f><v>4</v></c><c t="str"><f>""</f><v></v></c></row>`;
    expect(await read(workbook(rows))).to.deep.equal([[2, { a: '#N/A', b: '4' }]]);
  });

  it('is read no further once its request has ended', async () => {
    const ended = AbortSignal.abort(new Error('the client left'));
    expect(await problemOf(workbook(`<row>${inline('a')}</row>`), { signal: ended })).to.equal(
      'Error: the client left',
    );
  });

  it('takes bounded memory of what it unpacks to', async () => {
    const limits = { maxSheetBytes: 64 * 1024 * 1024 };
    const shared = `<sst><si><t>${'x'.repeat(1000 * 1000)}</t></si></sst>`;
    const repeated = '<row><c t="s"><v>0</v></c></row>'.repeat(20_000);
    const header = `<row>${inline('a')}</row>`;
    for (const [name, file] of Object.entries({
      'a text without an end': workbook(`${header}<row><c t="str"><v>${'x'.repeat(300 * 1024 * 1024)}`),
      'a comment without an end': workbook(`${header}<!--${'>'.repeat(300 * 1024 * 1024)}`),
      'many rows': workbook(`${header}${'<row/>'.repeat(30_000_000)}`),
      'shared texts': workbook(header, {
        'xl/sharedStrings.xml': `<sst><si><t>${'<'.repeat(0)}${'x></x'.repeat(20_000_000)}`,
      }),
      'a shared text many times': workbook(header + repeated, { 'xl/sharedStrings.xml': shared }),
    })) {
      const before = process.memoryUsage().rss;
      expect(await problemOf(file, limits), name).to.match(/^UnreadableInputError/);
      expect((process.memoryUsage().rss - before) / 1024 ** 2, name).to.be.below(400);
    }
    // Only the row that is too long is rejected.
    const cells = '<c t="s"><v>0</v></c>'.repeat(3);
    const file = workbook(`${header}<row>${cells}</row><row>${inline('1')}</row>`, {
      'xl/sharedStrings.xml': shared,
    });
    expect(await read(file, limits)).to.deep.equal([
      [2, 'too long'],
      [3, { a: '1' }],
    ]);
  }).timeout(60_000);
});
