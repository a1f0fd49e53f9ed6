import type { IncomingMessage } from 'node:http';
import { type Duplex, finished } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { CODE, SqlError } from './errors.js';

/** Decoders by encoding. A map, because clients send any name, and an object would find `constructor`. */
const DECODERS = new Map<string, () => Duplex>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** A body. `encoding` is its remaining encoding, if that is not an encoding of HTTP. */
export interface Body {
  data: Buffer;
  encoding: string | undefined;
}

/** Reads a body to its end. `limit` is in bytes after decoding. Throws a `SqlError` if the body exceeds the limit or decoding fails. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  const encoding = request.headers['content-encoding'];
  const createDecoder = encoding === undefined ? undefined : DECODERS.get(encoding);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    const source = createDecoder ? decoded(request, createDecoder()) : request;
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw new SqlError(CODE.QUERY_IS_TOO_LARGE, `The body exceeds ${limit} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof SqlError) throw error;
    throw new SqlError(CODE.BAD_ARGUMENTS, 'The body cannot be read in its Content-Encoding');
  }
  const data = Buffer.concat(chunks);
  return { data, encoding: createDecoder || data.length === 0 ? undefined : encoding };
}

/**
 * Decodes the request like `pipeline`, but leaves the request open after an error of the decoder: destroying the request would close the
 * socket before the response.
 */
function decoded(request: IncomingMessage, decoder: Duplex): Duplex {
  finished(request, { writable: false }, (error) => {
    if (error) decoder.destroy(error);
  });
  return request.pipe(decoder);
}
