import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, deflate, gzip } from 'node:zlib';
import type { EngineResult } from '../stores/clickhouse/engine.js';
import { compressedBlocks } from './compressed-blocks.js';
import { exceptionText, httpStatus, type SqlError } from './errors.js';
import { nativeBlocks } from './native-blocks.js';
import type { SqlRequest } from './request.js';

const ENCODERS: { [encoding: string]: (bytes: Uint8Array) => Promise<Buffer> } = {
  gzip: promisify(gzip),
  deflate: promisify(deflate),
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
};

const CONTENT_TYPES: [format: RegExp, type: string][] = [
  [/^(JSONEachRow|JSONCompactEachRow|NDJSON|JSONLines|JSONStringsEachRow)/, 'application/x-ndjson'],
  [/^JSON|^JSONCompact/, 'application/json'],
  [/^CSV/, 'text/csv'],
  [/^(TabSeparated|TSV)/, 'text/tab-separated-values'],
  [/^(Native|RowBinary|Parquet|Arrow|ORC|Avro|MsgPack|Protobuf|Npy)/, 'application/octet-stream'],
  [/^XML$/, 'application/xml'],
  [/^Markdown$/, 'text/markdown'],
];

export function contentType(format: string): string {
  const type = CONTENT_TYPES.find(([pattern]) => pattern.test(format))?.[1] ?? 'text/plain';
  return type === 'application/octet-stream' ? type : `${type}; charset=UTF-8`;
}

/** The summary header of a statement, in which every number is text. The engine does not report how many rows and bytes it read. */
export function summaryOf(result: EngineResult): string {
  const rows = String(result.rowsRead);
  const bytes = String(result.bytesRead);
  return JSON.stringify({
    read_rows: rows,
    read_bytes: bytes,
    written_rows: '0',
    written_bytes: '0',
    total_rows_to_read: '0',
    result_rows: rows,
    result_bytes: bytes,
    elapsed_ns: String(Math.round(result.elapsed * 1e9)),
  });
}

/** Encodes a response in the blocks that the client requests. */
export async function encodeBlocks(
  bytes: Uint8Array,
  format: string,
  { protocolVersion, compressBlocks }: Pick<SqlRequest, 'protocolVersion' | 'compressBlocks'>,
): Promise<Uint8Array> {
  const isVersioned = format === 'Native' && protocolVersion > 0;
  const blocks = isVersioned ? await nativeBlocks(bytes, protocolVersion) : bytes;
  return compressBlocks ? compressedBlocks(blocks) : blocks;
}

/** Compresses with the first supported encoding in the client's list, and returns this encoding. */
export async function compressed(
  bytes: Uint8Array,
  acceptEncoding: string | undefined,
): Promise<{ bytes: Uint8Array; encoding?: string }> {
  const wanted = (acceptEncoding ?? '').split(',').map((entry) => entry.split(';')[0]?.trim() ?? '');
  const encoding = wanted.find((name) => Object.hasOwn(ENCODERS, name));
  const encode = encoding === undefined ? undefined : ENCODERS[encoding];
  if (!encode || encoding === undefined || bytes.length === 0) return { bytes };
  return { bytes: await encode(bytes), encoding };
}

/**
 * Sends an error. If the response would have been in compressed blocks, the error is in compressed blocks too, because drivers read errors
 * in no other form.
 */
export async function sendException(
  response: ServerResponse,
  exception: SqlError,
  compressBlocks: boolean,
): Promise<void> {
  response.statusCode = httpStatus(exception);
  response.setHeader('X-ClickHouse-Exception-Code', exception.code);
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  if (response.statusCode === 401) {
    response.setHeader('WWW-Authenticate', 'Basic realm="ClickHouse server HTTP API"');
  }
  const text = Buffer.from(exceptionText(exception));
  response.end(compressBlocks ? await compressedBlocks(text) : text);
}
