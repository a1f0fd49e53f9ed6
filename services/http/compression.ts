/** Compression of responses by `Accept-Encoding` (contract 1.8). */
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib';
import type { Context } from 'koa';
import Negotiator from 'negotiator';

/** Responses below this size, in bytes, fit into one packet without compression. */
const MIN_COMPRESSED_BYTES = 1024;

/** Media types that are compressed already. */
const IS_COMPRESSED = /^(?:image\/(?!svg)|font\/)/;

/** Fast compression levels (decision 0001). */
const GZIP = { level: 3 };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
/** Body size in bytes above which the thread pool compresses. Below, handing the work to the pool would cost several times as much. */
const MAX_SYNC_BYTES = 256 * 1024;

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

const CODECS = {
  br: {
    compress: (body: Buffer) => compressBrotli(body, BROTLI),
    compressSync: (body: Buffer) => brotliCompressSync(body, BROTLI),
    stream: (): Transform => createBrotliCompress({ ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
  gzip: {
    compress: (body: Buffer) => compressGzip(body, GZIP),
    compressSync: (body: Buffer) => gzipSync(body, GZIP),
    stream: (): Transform => createGzip({ ...GZIP, flush: constants.Z_SYNC_FLUSH }),
  },
};

/** Encodings in order of preference, for clients that weigh them equally. */
const ENCODINGS = ['br', 'gzip'];

/** The types do not know the option `preferred`. */
type EncodingOf = (offered: string[], options: { preferred: string[] }) => string | undefined;

/** Returns the encoding; undefined for no encoding, for example for a request without the header. */
function negotiate(ctx: Context) {
  ctx.vary('Accept-Encoding');
  const header = ctx.req.headers['accept-encoding'];
  if (header === undefined) return undefined;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': header } });
  const encoding = (negotiator.encoding as EncodingOf)([...ENCODINGS, 'identity'], { preferred: ENCODINGS });
  if (encoding !== 'br' && encoding !== 'gzip') return undefined;
  ctx.set('Content-Encoding', encoding);
  return CODECS[encoding];
}

/** Compresses the body, unless it is short, encoded already, or the client does not accept compression. */
export async function compress(ctx: Context, body: string | Buffer): Promise<string | Buffer> {
  if (Buffer.byteLength(body) < MIN_COMPRESSED_BYTES || IS_COMPRESSED.test(ctx.type)) return body;
  if (ctx.res.hasHeader('Content-Encoding')) return body;
  const codec = negotiate(ctx);
  if (!codec) return body;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  return bytes.length > MAX_SYNC_BYTES ? codec.compress(bytes) : codec.compressSync(bytes);
}

/** A transform that compresses a streamed response and passes each chunk on at once; undefined if the client accepts no encoding. */
export const compressStream = (ctx: Context): Transform | undefined => negotiate(ctx)?.stream();
