import { findStream, STREAM_NAMES, type StreamName } from '../../ingest/streams/index.js';
import { closest } from '../shared/did-you-mean.js';
import { UsageError } from './errors.js';

/** Streams named with commas between them; all when nothing is given. */
export function parseStreams(text: string | undefined): readonly StreamName[] {
  if (text === undefined) return STREAM_NAMES;
  return text.split(',').map((given) => {
    const name = given.trim();
    if (findStream(name)) return name as StreamName;
    const guess = closest(name, STREAM_NAMES);
    const hint = guess === null ? `The streams are ${STREAM_NAMES.join(', ')}.` : `Did you mean ${guess}?`;
    throw new UsageError(`There is no stream ${JSON.stringify(name)}. ${hint}`);
  });
}
