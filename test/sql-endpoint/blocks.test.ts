import { expect } from 'chai';
import lz4 from 'lz4js';
import { cityHash128 } from '../../services/sql-endpoint/city-hash.js';
import { compressedBlocks } from '../../services/sql-endpoint/compressed-blocks.js';
import { nativeBlocks } from '../../services/sql-endpoint/native-blocks.js';
import { openEngine } from '../../services/stores/clickhouse/engine.js';
import { rawSql } from '../support/raw-sql.js';
import { tempFolder } from '../support/temp-folder.js';

describe('Blocks of ClickHouse', () => {
  // Calculated by github.com/go-faster/city, which clickhouse-go uses.
  const HASHES: [length: number, low: bigint, high: bigint][] = [
    [1, 0x5a03ab4f802b3f6cn, 0x58a88a3c8a31e91an],
    [5, 0x57b54ad97bf5071n, 0xb5c0fb7d6eeb5b64n],
    [9, 0x80885008a99d77f2n, 0x854364fe84aef88n],
    [11, 0xb2e63b5c4baa7a6n, 0x617d1f774d4ddffen],
    [16, 0x4e7e2890890c933dn, 0x9b6511d6440477c7n],
    [20, 0xc50d5188dd3f0cd4n, 0xbc678d2c1155160an],
    [31, 0x99f185112aa9cd7en, 0xd42762edf0508928n],
    [40, 0x67dc93f5738b7134n, 0x2042215927bfdd08n],
    [100, 0xced681c78ad6c6cfn, 0x8522ef787e570a9cn],
    [143, 0x2306b4d414b0d326n, 0xe980bd41eb516895n],
    [144, 0x9ba176029dbc7f22n, 0xa99caea46164a108n],
    [200, 0xaf07d3bba57a0d5bn, 0x981ef4f519d4454n],
    [300, 0x3c9b61da9a18081cn, 0xf9d9975c31955c7bn],
    [1000, 0x99dd0d90658d4424n, 0x70f54ed52c308cc0n],
    [65800, 0x6c3dc6235f06b0d1n, 0x2bcfc9aaffbd6712n],
  ];
  it('have the checksum of CityHash 1.0.2, at every length of its branches', () => {
    for (const [length, low, high] of HASHES) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 256);
      expect(cityHash128(bytes), String(length)).to.deep.equal([low, high]);
    }
  });

  it('hold the content as an LZ4 block behind checksum, method and sizes', async () => {
    for (const length of [0, 1, 14, 15, 269, 270, 271, 65_536, 200_000]) {
      const content = Buffer.alloc(length, 'clicks');
      const blocks = await compressedBlocks(content);
      const parts: Uint8Array[] = [];
      for (let at = 0; at < blocks.length; ) {
        const size = blocks.readUInt32LE(at + 17);
        const part = new Uint8Array(blocks.readUInt32LE(at + 21));
        expect(blocks[at + 16]).to.equal(0x82);
        lz4.decompressBlock(blocks, part, at + 25, size - 9, 0);
        parts.push(part);
        at += 16 + size;
      }
      expect(Buffer.concat(parts).equals(content), String(length)).to.equal(true);
    }
  });

  it('get a header, and from version 54454 on a byte a column, whatever the types', async () => {
    const folder = tempFolder();
    const engine = await openEngine(folder);
    const session = engine.session();
    const columns = [
      'number',
      "['a', NULL, toString(number)]",
      "map('a', [number])",
      "(number, 'b', [(1, toDate('2026-01-01'))])",
      "CAST((1, 'x'), 'Tuple(`a b` UInt8, \"c, (d\" String)')",
      'toLowCardinality(toString(number % 300))',
      '[toLowCardinality(toNullable(toString(number))), NULL]',
      "CAST([('x', toLowCardinality('y'))], 'Map(LowCardinality(String), LowCardinality(String))')",
      'toDecimal32(1, 2), toDecimal64(1, 2), toDecimal128(1, 2), toDecimal256(1, 2)',
      "toDateTime64(1, 3, 'UTC'), toDate32('2026-01-01'), now('UTC'), INTERVAL 3 DAY",
      "CAST('a, )', 'Enum8(\\'a, )\\' = 1, \\'b\\' = 2)'), toFixedString('abc', 3), true, NULL, toUUID('00000000-0000-0000-0000-000000000001')",
      "toIPv4('1.2.3.4'), toIPv6('::1'), toInt256(1), toFloat32(1)",
      '[]::Array(Array(String)), materialize(tuple())',
    ];
    try {
      const sql = rawSql(`SELECT ${columns.join(', ')} FROM numbers(3000) SETTINGS max_block_size = 1000`);
      const plain = (await session.run(sql, 'Native')).bytes();
      const types = (await session.run(rawSql(`DESCRIBE (${sql.text})`), 'TabSeparated')).bytes();
      const width = Buffer.from(types).toString().split('\n').length - 1;
      const older = await nativeBlocks(plain, 54405);
      const newer = await nativeBlocks(plain, 54460);
      expect(older.length).to.equal(plain.length + 3 * 8);
      expect(newer.length).to.equal(plain.length + 3 * (8 + width));
    } finally {
      session.close();
      await engine.close();
    }
  });
});
