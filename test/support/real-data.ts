/** The records of test/data. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { StreamName } from '../../ingest/streams/index.js';
import { packageRoot } from '../../services/shared/fs.js';
import { tempFolder } from './temp-folder.js';

const FOLDER = join(packageRoot, 'test/data');

/** The lines of a stream's file; none for a stream without one. */
export function realLines(stream: StreamName): string[] {
  const name = `${stream}.ndjson.gz`;
  if (!readdirSync(FOLDER).includes(name)) return [];
  return gunzipSync(readFileSync(join(FOLDER, name)))
    .toString()
    .trim()
    .split('\n');
}

/** A temporary folder with the uncompressed files. */
export function unpackRealData(): string {
  const path = tempFolder();
  for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.gz')))
    writeFileSync(join(path, name.slice(0, -'.gz'.length)), gunzipSync(readFileSync(join(FOLDER, name))));
  return path;
}
