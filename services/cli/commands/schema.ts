import { MAPPING_SCHEMA } from '../../../ingest/mapping/mapping-file.js';
import { type Io, printOut } from '../io.js';
import { requireStream } from '../streams.js';

/** Prints the JSON Schema of the records of a stream, or of a mapping file. */
export function schema(io: Io, name: string): void {
  const found =
    name === 'mapping'
      ? MAPPING_SCHEMA
      : {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          title: `Record of ${name}`,
          ...requireStream(name).schema,
        };
  printOut(io, JSON.stringify(found, null, 2));
}
