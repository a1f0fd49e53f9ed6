import { findStream, STREAM_NAMES, type StreamName, unknownStream } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { ID_PATTERN } from '../shared/ids.js';
import { UsageError } from './errors.js';

/** Throws UsageError. */
export function requireStream(name: string): Stream {
  const stream = findStream(name);
  if (!stream) throw new UsageError(unknownStream(name));
  return stream;
}

/** Stream names separated by commas; all streams when absent. Throws UsageError. */
export function parseStreams(text: string | undefined): readonly StreamName[] {
  return text?.split(',').map((name) => requireStream(name.trim()).name as StreamName) ?? STREAM_NAMES;
}

const id = new RegExp(ID_PATTERN);

/** Throws UsageError. */
export function requireId(option: string, value: string): void {
  if (!id.test(value)) {
    throw new UsageError(
      `${option} is ${JSON.stringify(value)}, but an identifier has 1 to 128 characters of A-Z a-z 0-9 . _ : -`,
    );
  }
}
