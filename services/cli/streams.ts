/** Stream names on the command line. A separate file, because loading the schemas of the streams takes time. */
import { findStream, STREAM_NAMES, type StreamName, unknownStream } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { UsageError } from './errors.js';

/** Throws UsageError. */
export function requireStream(name: string): Stream {
  const stream = findStream(name);
  if (!stream) throw new UsageError(unknownStream(name));
  return stream;
}

/** Parses stream names separated by commas; undefined means all streams. Throws UsageError. */
export function parseStreams(text: string | undefined): readonly StreamName[] {
  return text?.split(',').map((name) => requireStream(name.trim()).name as StreamName) ?? STREAM_NAMES;
}
