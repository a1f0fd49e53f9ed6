/** `POST /api/ingest/{stream}/check`: reports how a file would be read, and what loading the file would do. */
import { checkFile } from '../../../ingest/check/check.js';
import { DRAFT, type ProposeOptions } from '../../../ingest/check/propose.js';
import { fieldChoices } from '../../../ingest/mapping/edit.js';
import { MappingError, parseMappingFile } from '../../../ingest/mapping/mapping-file.js';
import { MAX_NAME_LENGTH } from '../../../ingest/mapping/stored-mappings.js';
import { AUTO } from '../../../ingest/presets/recognize.js';
import { parseJson } from '../../../ingest/records/parse-json.js';
import type { TextFormat } from '../../../ingest/sources/text.js';
import { findStream, STREAM_NAMES, unknownStream } from '../../../ingest/streams/index.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { type BodySource, endpointsWith } from '../../http/endpoint.js';
import { hasScope } from '../../http/principal.js';
import { invalid, Problem } from '../../http/problems.js';
import { isObject } from '../../shared/json.js';
import {
  arrayOf,
  boolean,
  integer,
  looseObject,
  strictObject,
  stringEnum,
  Type,
  withDefault,
} from '../../shared/schema.js';
import type { UnknownFields } from '../../shared/settings.js';
import { ANY_FORMAT, formatOf, INGEST_FORMATS, readFileBody } from './body.js';
import { findMapping, type IngestServices } from './endpoint.js';
import { invalidMapping, toProblem } from './problems.js';
import { inTurn, PROPOSED, peopleOf, peopleScope, READING_PARAMETERS, Reading } from './reading-query.js';
import { describeFile } from './record-schemas.js';
import { MATCHES, MISSING_TABLES, RESULT_FIELDS } from './result-schema.js';
import { openUpload, type Upload } from './upload.js';

/** Limits of a check. The time limit leaves room for the upload within the timeout of a request. */
const CHECK_LIMITS = { records: 100_000, rejected: 10_000, milliseconds: 8000 };

const text = (description: string) => Type.String({ description });

const Question = looseObject(
  {
    code: stringEnum('Kind of question.', [
      'ambiguous_date',
      'ambiguous_number',
      'several_presets',
      'other_stream',
      'required_field',
    ]),
    answer: stringEnum(
      'Where the answer goes in the next request: the query parameter of this name, the `stream` of the path, or the part `columns`.',
      ['date_order', 'decimal', 'map', 'stream', 'columns'],
    ),
    column: Type.Optional(text('The column that the question is about.')),
    field: Type.Optional(text('The field that no column provides.')),
    choices: arrayOf(
      'The possible answers.',
      looseObject({
        value: text('Value to send as the answer.'),
        description: Type.Optional(text('Description of the answer.')),
        text: Type.Optional(text('A text of the column.')),
        reading: Type.Optional(text('The value of this text with this answer.')),
      }),
    ),
  },
  { $id: 'FileQuestion', description: 'A question that the file leaves open.' },
);

const Column = looseObject(
  {
    column: text('Name of the column in the file; for JSON, the path of the field.'),
    field: text(
      'The field that the column becomes; `full_name` for first and last name; empty if the column is left out.',
    ),
    fields: arrayOf('All fields that the column becomes.', text('Name of a field.')),
    samples: arrayOf('Some texts of the column.', text('The text, at most 100 characters.')),
  },
  { $id: 'FileColumn', description: 'A column of the file.' },
);

export const CheckResponse = looseObject(
  {
    stream: text('Stream of the records.'),
    format: stringEnum('Format of the file.', ['ndjson', 'json', 'csv', 'xlsx']),
    media_type: text('The `Content-Type` with which to load the file.'),
    preset: Type.Optional(text('The preset that recognized the file.')),
    preset_description: Type.Optional(text('What the preset reads.')),
    header: Type.Optional(
      looseObject(
        {
          line: integer('Its line, from 1.'),
          text: text('The line as written.'),
          delimiter: text('The character that separates its cells.'),
        },
        { description: 'The row with the column names of CSV.' },
      ),
    ),
    mapping: Type.Optional(
      looseObject(
        {},
        {
          description:
            'The mapping that reads the file, with every date and number format stated. To load the file, send this as the part `mapping` before the file. Absent if the file already holds records of the stream.',
        },
      ),
    ),
    columns: arrayOf('The columns of the file.', Column),
    proposed: PROPOSED,
    fields: arrayOf('The fields that a column can become.', text('Name of a field.')),
    required: arrayOf('The fields that a column must provide.', text('Name of a field.')),
    missing_tables: MISSING_TABLES,
    questions: arrayOf(
      'Questions that the file leaves open. While there are any, no record is checked.',
      Question,
    ),
    result: Type.Optional(
      looseObject(
        {
          ...RESULT_FIELDS,
          records: arrayOf(
            'The first 3 accepted records, as they would be stored.',
            looseObject({
              line: integer('Line, or position in the array, from 1.'),
              record: looseObject({}, { description: 'The record of the stream.' }),
            }),
          ),
          matches: MATCHES,
          is_whole: boolean('Whether every record of the file was checked.'),
        },
        { description: 'Counts of what loading would do; absent while a question is open.' },
      ),
    ),
  },
  { description: 'How the file would be read.' },
);

export const check = endpointsWith<IngestServices>()({
  path: '/api/ingest/{stream}/check',
  params: strictObject({
    stream: stringEnum('Stream of the records.', STREAM_NAMES, { examples: ['contacts'] }),
  }),
  name: 'CheckFile',
  operationId: 'ingestCheck',
  summary: 'Check a file of records',
  description:
    'Recognizes the file, proposes a mapping, asks what the file leaves open, and says what loading would do. Writes nothing. To load the file, send it to `/api/ingest/{stream}` as the part `file` after the part `mapping` with the mapping of this response.',
  tag: 'Ingest',
  scope: ['ingest:write'],
  queryScope: peopleScope,
  source: { read: readFileBody, describe: describeFile },
  request: strictObject({}),
  query: strictObject({
    ...READING_PARAMETERS,
    map: Type.Optional(
      Type.String({
        description:
          'Name of a mapping, as for ingest. By default, the preset that recognizes the file, otherwise a draft. `draft` uses no preset.',
        minLength: 1,
        maxLength: MAX_NAME_LENGTH,
        examples: ['draft'],
      }),
    ),
    beginning: withDefault(
      Type.Optional(
        boolean(
          'The body is only the beginning of the file, as lines of JSON or CSV. Its last record may be cut, and is ignored.',
        ),
      ),
      false,
    ),
  }),
  response: CheckResponse,
  example: {},
  problems: ['stream_not_found'],
  async handle({ query, params, services, signal, organizationId, ...context }) {
    const stream = findStream(params.stream as string);
    if (!stream) throw new Problem('stream_not_found', unknownStream(params.stream as string));
    const reading = new Reading(query, context.source?.charset);
    const otherwise = hasScope(services, 'contacts:read') ? 'create' : undefined;
    const people = peopleOf(stream, query, services.records, otherwise);
    const upload = await openUpload(context.source as BodySource, ['mapping', 'columns']);
    try {
      const { format, chunks } = await formatOf(upload);
      if (query.beginning && (format === 'json' || format === 'xlsx')) throw wholeFile();
      const checked = await inTurn(format, organizationId, signal, () =>
        checkFile({
          stream,
          stores: services,
          source: chunks,
          format,
          reading: reading.options,
          clock: services.clock,
          ...mappingOf(upload, query.map, services, stream),
          choices: choicesOf(upload.parts.get('columns'), stream),
          declared: reading.declared,
          people,
          isBeginning: query.beginning,
          unknownFields: (query.unknown_fields as UnknownFields | undefined) ?? services.unknownFields,
          limits: CHECK_LIMITS,
          organizationId,
          signal,
          onFault: services.onFault,
        }),
      );
      const { proposed } = reading;
      return { stream: stream.name, format, media_type: mediaTypeOf(format), ...checked, proposed } as never;
    } catch (error) {
      throw error instanceof MappingError ? invalidMapping(error) : reading.withProposed(toProblem(error));
    } finally {
      upload.close();
    }
  },
});

/** Other formats need their end to be read at all. */
const wholeFile = () =>
  invalid({
    pointer: '?beginning',
    code: 'whole_file',
    detail: 'Only files of JSON lines and CSV can be checked by their beginning; send this file whole.',
  });

const mediaTypeOf = (format: TextFormat) =>
  Object.entries(INGEST_FORMATS).find(([, each]) => each === format)?.[0] ?? ANY_FORMAT;

/** The mapping that comes with the file, or the mapping that the request names. Throws 422 and `MappingError`. */
function mappingOf(
  { parts }: Upload,
  name: string | undefined,
  { mappings }: IngestServices,
  stream: Stream,
): Pick<ProposeOptions, 'file' | 'preset'> {
  const sent = parts.get('mapping');
  if (sent !== undefined) return { file: parseMappingFile(sent) };
  if (name === undefined || name === AUTO || name === DRAFT) return { preset: name };
  const { preset, file } = findMapping(mappings, name, stream);
  return preset === undefined ? { file } : { preset };
}

/** Parses the choices of a check. Throws 422 unless the text is an object of column names and fields. */
function choicesOf(sent: string | undefined, stream: Stream): Record<string, string> {
  if (sent === undefined) return {};
  const choices = parseJson(Buffer.from(sent));
  const allowed = new Set(['', ...fieldChoices(stream)]);
  if ('value' in choices && isObject(choices.value)) {
    const unknown = Object.values(choices.value).find((field) => !allowed.has(field as string));
    if (unknown === undefined) return choices.value as Record<string, string>;
    const detail = `${JSON.stringify(unknown)?.slice(0, 128)} is not a field of ${stream.name}. Choose one of ${[...allowed].slice(1).join(', ')}.`;
    throw invalid({ pointer: '/columns', code: 'unknown_field', detail });
  }
  const detail = 'columns must be a JSON object of column names and the fields that they become.';
  throw invalid({ pointer: '/columns', code: 'invalid_type', detail });
}
