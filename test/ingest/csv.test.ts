import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { RawRecord } from '../../ingest/records/raw-record.js';
import { asUtf8 } from '../../ingest/sources/as-utf8.js';
import { type CsvFile, openCsv } from '../../ingest/sources/csv.js';
import { until } from '../support/until.js';

const REPORT = readFileSync('test/data/presets/linkedin-campaign-manager/creative_performance_report.csv');
const DAY = 'Start Date (in UTC)';

/** The text in pieces of one byte. */
async function* bytes(text: Buffer): AsyncGenerator<Uint8Array> {
  for (const byte of text) yield Buffer.from([byte]);
}

/** The line and the cells of each row, by column. */
async function rows(csv: CsvFile): Promise<[number, Record<string, string>][]> {
  const all: [number, Record<string, string>][] = [];
  for await (const records of csv.records()) {
    for (const { line, value } of records) all.push([line, value as Record<string, string>]);
  }
  return all;
}

describe('A CSV file', () => {
  it('may be UTF-16 and have lines before its header, as LinkedIn writes it', async () => {
    const csv = await openCsv(asUtf8(bytes(REPORT)), { headers: [['Record ID'], [DAY, 'Total Spent']] });
    expect(csv.header.slice(0, 3)).to.deep.equal([DAY, 'Account Name', 'Currency']);
    const read = await rows(csv);
    // The text of the first ad has a line feed, quotes around its campaign are doubled.
    expect(read.map(([line]) => line)).to.deep.equal([7, 9, 10, 12]);
    expect(read[0]?.[1]).to.include({
      'Account Name': 'Nordlicht Energie – Ads',
      'Campaign Name': 'Wärmepumpen, "Profi"',
      'Ad Introduction Text': 'Zeile eins\nZeile zwei',
    });
    expect(read[3]?.[1]).to.include({ [DAY]: '10/12/2024', 'Total Spent': '1234.50' });
  });

  it('tells the line on which a row ends, also of one that is too long', async () => {
    const long = 'x\n'.repeat(600_000);
    const text = `Report\na,b\n1,"2\n3"\n4,5\n6,"${long}"\n7,"8\n"\n9,"${long}"`;
    const csv = await openCsv(Readable.from([Buffer.from(text)]), { headerRow: 2 });
    const places: (number | undefined)[][] = [];
    for await (const records of csv.records()) {
      for (const { line, lastLine, overlong } of records) {
        if (overlong !== 'piece') places.push([line, lastLine]);
      }
    }
    expect(places).to.deep.equal([
      [3, 4],
      [5, undefined],
      [6, 600_006],
      [600_007, 600_008],
      [600_009, 1_200_009],
    ]);
  });

  it('begins with its header where no line is one that is known', async () => {
    const csv = await openCsv(bytes(Buffer.from('a;b\n1;ä\n')), { headers: [['a', 'c']] });
    expect(await rows(csv)).to.deep.equal([[2, { a: '1', b: 'ä' }]]);
  });

  it('may end with lines of one cell behind a blank line, which are skipped and not rejected', async () => {
    const end = '\n\n"Contacts of the week"\n"Confidential"\n';
    const read = async (text: string) => {
      const all: string[] = [];
      for await (const records of (await openCsv(bytes(Buffer.from(text)))).records()) {
        all.push(
          ...records.map(
            ({ line, rejection, isSkipped }) =>
              `${line}${rejection ? ' rejected' : ''}${isSkipped ? ' skipped' : ''}`,
          ),
        );
      }
      return all;
    };
    expect(await read(`a,b\n1,2\n${end}`)).to.deep.equal(['2', '5 skipped', '6 skipped']);
    expect(await read(`a,b\n1,2\n${end}3,4\n`)).to.deep.equal(['2', '5 rejected', '6 rejected', '7']);
    expect(await read('a,b\n1,2\n3\n')).to.deep.equal(['2', '3 rejected']);
  });

  it('may end its lines with CR alone, as Excel for Mac writes it', async () => {
    const expected = [
      [2, { a: '1', b: 'x\ny' }],
      [4, { a: '2', b: 'z' }],
    ];
    const texts = {
      'no end of the last line': 'a,b\r1,"x\ry"\r2,z',
      'an end of each line': 'a,b\r1,"x\ry"\r2,z\r',
      'LF within cells': 'a,b\r1,"x\ny"\r"2",z\r',
      'an LF that an editor added at the end': 'a,b\r1,"x\ry"\r2,z\r\n',
    };
    for (const [name, text] of Object.entries(texts)) {
      expect(await rows(await openCsv(bytes(Buffer.from(text)))), name).to.deep.equal(expected);
      expect(await rows(await openCsv(Readable.from([Buffer.from(text)]))), name).to.deep.equal(expected);
    }
    // The first 64 KiB decide which line ends a text has. In the rest of the text, an LF ends a line too.
    const long = `a,b\r${'1,x\r'.repeat(20_000)}`;
    expect(await rows(await openCsv(Readable.from([Buffer.from(`${long}2,y\n3,z\n`)])))).to.have.length(
      20_002,
    );
    // If LF ends lines, CR is text.
    expect(await rows(await openCsv(bytes(Buffer.from('a,b\n1,x\ry\n'))))).to.deep.equal([
      [2, { a: '1', b: 'x\ry' }],
    ]);
    expect(await rows(await openCsv(bytes(Buffer.from('a,b\r\r\n1,x\r\r\n'))))).to.deep.equal([
      [2, { a: '1', b: 'x' }],
    ]);
  });

  it('has no record where a row has no value, and such rows do not hide others', async () => {
    const blank = [',,', '"","",""', ' , , ', '   ', ';', ' , ,', ',,,,,,,'];
    for (const each of blank) {
      const read = await rows(
        await openCsv(bytes(Buffer.from(`a,b,c\n1,2,3\n${`${each}\n`.repeat(2_000)}4,5,6\n`))),
      );
      const expected = [
        [2, { a: '1', b: '2', c: '3' }],
        [2_003, { a: '4', b: '5', c: '6' }],
      ];
      if (each !== ';') expect(read, each).to.deep.equal(expected);
      else expect(read).to.have.length(2_002);
    }
  });

  it('is refused where bytes follow its header and none of them is a row', async () => {
    const read = async (text: string) =>
      rows(await openCsv(bytes(Buffer.from(text)))).catch((error: Error) => error.message);
    for (const text of ['a,b\n,\n', 'a,b\n"",""\n,', 'a,b\n \n']) {
      expect(await read(text), text).to.match(/^The file has a header and no row with a value behind it\./);
    }
    for (const text of ['a,b', 'a,b\n', 'a,b\r\n\r\n\n', 'a,b\r'])
      expect(await read(text), text).to.deep.equal([]);
  });

  it('has at most 10 000 columns, and rows with more cells are rejected without keeping them', async () => {
    const commas = ','.repeat(10_000);
    const error = await openCsv(bytes(Buffer.from(`${commas}\n`))).catch((reason: Error) => reason);
    expect(error).to.include({ name: 'ColumnsError', message: 'The header names more than 10000 columns.' });
    const csv = await openCsv(bytes(Buffer.from(`a\n1${commas.slice(1)}\n2${commas}\n`)));
    const { value } = await csv.records().next();
    expect((value as RawRecord[]).map(({ value: row, rejection }) => row ?? rejection?.detail)).to.deep.equal(
      [{ a: '1' }, 'The row has more than 10000 cells.'],
    );
  });

  it('releases its source when reading ends early, and when its header cannot be used', async () => {
    let open = 0;
    async function* source(text: string, encoding: BufferEncoding = 'utf8'): AsyncGenerator<Uint8Array> {
      open++;
      try {
        for (;;) yield Buffer.from(text, encoding);
      } finally {
        open--;
      }
    }
    const read = (await openCsv(source('a,b\n1,2\n'))).records();
    await read.next();
    await read.return(undefined);
    (await openCsv(source('a,b\n1,2\n'))).close();
    const broken = await openCsv(source('\xff\n', 'latin1')).catch((error: Error) => error.name);
    expect(broken).to.equal('ColumnsError');
    await until(() => open === 0, 'every source is closed');
  });
});
