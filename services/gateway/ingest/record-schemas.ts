/** Schemas of ingested records for the OpenAPI document. */
import { STREAMS } from '../../../ingest/streams/index.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { type Json, publish, publishAs } from '../../http/openapi.js';
import { readExamples } from '../examples.js';

/** Schema of a record over HTTP, where a record without an organization belongs to the organization of the key. */
function recordSchema({ schema, organizationField }: Stream): Json {
  const { required = [], ...rest } = schema as { required?: string[] };
  return { ...rest, required: required.filter((field) => field !== organizationField) };
}

const part = (description: string, contentMediaType: string) => ({
  type: 'string',
  description,
  contentMediaType,
});

/** A form with a file, and parts that say how to read it. */
const formOf = (parts: Json) => ({
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: ['file'],
      properties: {
        ...parts,
        file: part(
          'The file, as the last part; its Content-Type says its format.',
          'application/octet-stream',
        ),
      },
    },
  },
});

const mappingPart = part(
  'A mapping (docs/reference/mapping.md) as JSON, at most 256 KiB: how the records of the file become records of the stream.',
  'application/json',
);

/** Content of the request body of a check. */
export const describeFile = (): Json => ({
  'application/octet-stream': {},
  ...formOf({
    mapping: mappingPart,
    columns: part(
      'A JSON object of column names and the fields that they become: a field, `full_name`, or empty. Other columns keep the proposed field.',
      'application/json',
    ),
  }),
});

/** Content of the request body by media type. Adds a schema for each stream to the components. */
export function describeRecords(schemas: Json): Json {
  const { records } = readExamples();
  const streams: Stream[] = Object.values(STREAMS);
  const anyOf = streams.map((stream) => publishAs(`${stream.name}-record`, recordSchema(stream), schemas));
  const record = { $id: 'IngestRecord', description: 'A record of the stream in the path.', anyOf };
  const examples = Object.fromEntries(
    streams.map(({ name, summary }) => [name, { summary, value: [records[name]] }]),
  );
  return {
    'application/json': { schema: { type: 'array', items: publish(record, schemas) }, examples },
    // No schema: a schema would describe the text as a whole, and orval would then send JSON.
    'application/x-ndjson': { example: `${JSON.stringify(records.contacts)}\n` },
    'text/csv': { example: 'contact_id,first_name,work_emails\ncon_1,Ada,ada@acme.example\n' },
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': {},
    // No schema, unlike for the check: openapi-python-client tells typed bodies apart by their class, and fails for the JSON array.
    'multipart/form-data': {},
  };
}
