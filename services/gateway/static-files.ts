/** Sends files that a build wrote, compressed by the build. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'koa';
import { respond } from '../http/respond.js';

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};
/** Encodings in order of preference, with the suffix that the build gives the compressed file. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Cache headers of files whose name changes with their content. */
export const IMMUTABLE = { 'Cache-Control': 'public, max-age=31536000, immutable' };

export interface StaticFile {
  type: string;
  etag: string;
  identity: Buffer;
  encoded: Partial<Record<string, Buffer>>;
}

/** Every file of a folder that a browser asks for, by its path below the folder. Empty if the folder does not exist. */
export function readFiles(folder: string): ReadonlyMap<string, StaticFile> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
      return type === undefined ? [] : [[name, readFile(join(folder, name), type)] as const];
    }),
  );
}

function readFile(file: string, type: string): StaticFile {
  const identity = readFileSync(file);
  const encoded = ENCODINGS.filter(([, suffix]) => existsSync(file + suffix)).map(
    ([encoding, suffix]) => [encoding, readFileSync(file + suffix)] as const,
  );
  const etag = createHash('sha256').update(identity).digest('base64url');
  return { type, etag, identity, encoded: Object.fromEntries(encoded) };
}

export function sendFile(
  ctx: Context,
  { type, etag, identity, encoded }: StaticFile,
  headers: Record<string, string>,
  status = 200,
): Promise<void> {
  ctx.vary('Accept-Encoding');
  const [encoding] = ENCODINGS.find(([name]) => encoded[name] && ctx.acceptsEncodings(name) === name) ?? [];
  if (encoding) ctx.set('Content-Encoding', encoding);
  return respond(ctx, {
    status,
    type,
    // The tag is weak, because the encodings of a file share it.
    headers: { ...headers, ETag: `W/"${etag}"` },
    body: (encoding && encoded[encoding]) ?? identity,
  });
}
