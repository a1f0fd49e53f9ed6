/** Names of streams on the command line; apart from the other arguments, as the schemas of the streams take time to load. */
import { findStream, STREAM_NAMES, type StreamName, unknownStream } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
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
