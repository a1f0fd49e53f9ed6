/** A file with its reading options, as parts of `multipart/form-data`. The file comes last, so that it is read as it arrives. */
import { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { BodySource } from '../../http/endpoint.js';
import { Problem } from '../../http/problems.js';

export const UPLOAD_TYPE = 'multipart/form-data';
/** Maximum bytes of a part before the file. */
const MAX_PART_BYTES = 256 * 1024;
const MAX_PARTS = 8;
const FILE = 'file';

export interface Upload {
  /** The text of each part before the file. */
  parts: ReadonlyMap<string, string>;
  /** Media type of the file, without parameters. */
  type: string;
  /** The content of the file. Throws a Problem if the body continues after the file or ends early. */
  chunks: AsyncIterable<Buffer>;
  /** Stops reading the body. */
  close(): void;
}

/**
 * Reads the parts before the file, of which only `names` are allowed. If the body is not a form, the body itself is the file. Throws a
 * Problem.
 */
export async function openUpload(source: BodySource, names: readonly string[]): Promise<Upload> {
  if (source.type !== UPLOAD_TYPE) {
    return { parts: new Map(), type: source.type, chunks: source.chunks, close: () => undefined };
  }
  const body = Readable.from(source.chunks, { objectMode: false });
  const form = formOf(source.contentType);
  const texts = new Map<string, Promise<string>>();
  let file: Readable | undefined;
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error instanceof Problem ? error : brokenForm(error);
    file?.destroy(failure as Error);
  };
  const ended = new Promise<void>((resolve) => form.once('finish', resolve).once('error', () => resolve()));
  const opened = new Promise<{ stream: Readable; type: string }>((resolve, reject) => {
    const stop = (error: unknown) => {
      fail(error);
      reject(failure);
    };
    form.on('file', (name, stream, _filename, _encoding, type) => {
      stream.on('error', stop);
      if (file !== undefined) {
        stream.resume();
        stop(new Problem('invalid_body', 'The file must be the last part of the form.'));
      } else if (name === FILE) {
        file = stream;
        resolve({ stream, type });
      } else if (!names.includes(name) || texts.has(name)) {
        stream.resume();
        stop(unexpectedPart(name, names));
      } else {
        const text = textOf(name, stream);
        text.catch(stop);
        texts.set(name, text);
      }
    });
    form.on('partsLimit', () => stop(new Problem('invalid_body', `A form may have ${MAX_PARTS} parts.`)));
    form.on('error', stop);
    body.on('error', stop);
    form.once('finish', () => {
      if (file === undefined) stop(new Problem('invalid_body', `The form has no part ${FILE}.`));
    });
    body.pipe(form);
  });
  const close = () => void body.destroy();
  try {
    const { stream, type } = await opened;
    const parts = new Map<string, string>();
    for (const [name, text] of texts) parts.set(name, await text);
    const read = async function* (): AsyncGenerator<Buffer> {
      try {
        yield* stream as AsyncIterable<Buffer>;
        await ended;
        if (failure !== undefined) throw failure;
      } catch (error) {
        throw failure ?? error;
      } finally {
        close();
      }
    };
    return { parts, type, chunks: read(), close };
  } catch (error) {
    close();
    throw error;
  }
}

function formOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // Each part is read as it arrives, even without a file name.
      isPartAFile: () => true,
      limits: { parts: MAX_PARTS, headerPairs: 16, headerSize: 8192 },
    });
  } catch (error) {
    throw brokenForm(error);
  }
}

const brokenForm = (error: unknown) =>
  new Problem('invalid_body', `The form cannot be read: ${(error as Error).message}.`);

const unexpectedPart = (name: string | undefined, names: readonly string[]) =>
  new Problem(
    'invalid_body',
    `The form has a part ${JSON.stringify(name?.slice(0, 64) ?? '')}; it takes ${[...names, FILE].join(', ')}, each once.`,
  );

async function textOf(name: string, stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_PART_BYTES) {
      throw new Problem('body_too_large', `The part ${name} may have at most ${MAX_PART_BYTES} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
