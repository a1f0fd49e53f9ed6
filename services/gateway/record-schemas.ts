/** Schemas of ingested records for the OpenAPI document. */
import { STREAMS } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { type Json, publish, publishAs } from '../http/openapi.js';
import { readExamples } from './examples.js';

/** Over HTTP the organization is that of the key where a record names none. */
function recordSchema({ schema, organizationField }: Stream): Json {
  const { required = [], ...rest } = schema as { required?: string[] };
  return { ...rest, required: required.filter((field) => field !== organizationField) };
}

const part = (description: string, contentMediaType: string) => ({
  type: 'string',
  description,
  contentMediaType,
});

/** A file with parts that say how it is read. */
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
      'A JSON object: the name of a column, and the field that it becomes, `full_name` or empty. Other columns stay as they are proposed.',
      'application/json',
    ),
  }),
});

/** Content of the request body by media type; adds a schema for each stream to the components. */
export function describeRecords(schemas: Json): Json {
  const { records } = readExamples();
  const streams: Stream[] = Object.values(STREAMS);
  const anyOf = streams.map((stream) => publishAs(`${stream.name}-record`, recordSchema(stream), schemas));
  const record = { $id: 'IngestRecord', description: 'A record of the stream that the path names.', anyOf };
  const examples = Object.fromEntries(
    streams.map(({ name, summary }) => [name, { summary, value: [records[name]] }]),
  );
  return {
    'application/json': { schema: { type: 'array', items: publish(record, schemas) }, examples },
    // Without a schema, which would be of the text as a whole: orval then sends JSON.
    'application/x-ndjson': { example: `${JSON.stringify(records.contacts)}\n` },
    'text/csv': { example: 'contact_id,first_name,work_emails\ncon_1,Ada,ada@acme.example\n' },
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': {},
    // Without a schema, which the check has: openapi-python-client tells typed bodies apart by their class, and fails for the array of JSON.
    'multipart/form-data': {},
  };
}
