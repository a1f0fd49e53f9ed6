import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { CODE, DbException } from './exceptions.js';

const DECODERS: { [encoding: string]: () => NodeJS.ReadWriteStream } = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A body, and in which encoding it still is when that is none of HTTP's own. */
export interface Body {
  data: Buffer;
  encoding: string | undefined;
}

/** Reads to the end, at most so many bytes after decoding. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  const encoding = request.headers['content-encoding'];
  const decoder = encoding === undefined ? undefined : DECODERS[encoding];
  const source = decoder ? decoded(request, decoder()) : request;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw new DbException(CODE.queryIsTooLarge, `The body exceeds ${limit} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof DbException) throw error;
    throw new DbException(CODE.badArguments, 'The body cannot be read in its Content-Encoding');
  }
  const data = Buffer.concat(chunks);
  return { data, encoding: decoder || data.length === 0 ? undefined : encoding };
}

function decoded(request: IncomingMessage, decoder: NodeJS.ReadWriteStream): Readable {
  request.on('error', (error) => decoder.emit('error', error));
  return request.pipe(decoder) as unknown as Readable;
}
