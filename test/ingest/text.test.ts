import { Readable } from 'node:stream';
import { expect } from 'chai';
import { sourceRecordOf } from '../../ingest/mapping/map-source.js';
import { openText, type TextFormat } from '../../ingest/sources/text.js';

const utf16le = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');

/** The records of a text that arrives in pieces of three bytes, which cut characters. */
async function recordsOf(text: Buffer, format: TextFormat): Promise<unknown[]> {
  const pieces = Array.from({ length: Math.ceil(text.length / 3) }, (_, index) =>
    text.subarray(index * 3, index * 3 + 3),
  );
  const records: unknown[] = [];
  for await (const chunk of (await openText(Readable.from(pieces), format)).records)
    records.push(...chunk.map(sourceRecordOf));
  return records;
}

describe('A text in UTF-16', () => {
  for (const [format, text] of [
    ['ndjson', '{"a":"ä"}\r\n{"a":"漢🎉"}\r\n'],
    ['json', '[{"a":"ä"}, {"a":"漢🎉"}]'],
    ['csv', 'a\r\nä\r\n漢🎉\r\n'],
  ] as const) {
    it(`is read as ${format}, with either byte first`, async () => {
      const expected = [{ a: 'ä' }, { a: '漢🎉' }];
      for (const bytes of [Buffer.from(text), utf16le(text), utf16le(text).swap16()])
        expect(await recordsOf(bytes, format)).to.deep.equal(expected);
    });
  }
});
