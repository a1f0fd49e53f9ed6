/** Checks a file: finds out how the file would be read, and what loading its records would do. Writes nothing. */
import { acceptedByLine } from '../../services/shared/record-order.js';
import type { Clock } from '../../services/shared/time.js';
import { compileMapping } from '../mapping/compile.js';
import { fieldChoices, requiredFields } from '../mapping/edit.js';
import type { MappingFile } from '../mapping/mapping-file.js';
import {
  emptyResult,
  IngestLimitError,
  type IngestOptions,
  type IngestResult,
  ingestRecords,
  missingTablesOf,
} from '../pipeline.js';
import { PRESETS } from '../presets/index.js';
import { type RawRecord, type RecordSource, UnreadableInputError } from '../records/raw-record.js';
import type { PersonMatch } from '../resolve-people.js';
import { mapText, openText, type ReadingOptions, type TextFormat } from '../sources/text.js';
import { marksOf, type Proposal, type ProposeOptions, propose } from './propose.js';
import { SampledWrites } from './sampled-writes.js';

export interface CheckOptions
  extends ProposeOptions,
    Pick<
      IngestOptions,
      'stream' | 'stores' | 'organizationId' | 'unknownFields' | 'people' | 'limits' | 'signal' | 'onFault'
    > {
  source: AsyncIterable<Uint8Array>;
  format: TextFormat;
  reading?: ReadingOptions;
  clock: Clock;
  /** Whether the source is only the beginning of the file, and may end within a record. */
  isBeginning?: boolean;
}

export interface Check extends Proposal {
  /** Fields that columns can become, and fields that a column must provide. */
  fields: string[];
  required: string[];
  /** Names of tables that the mapping joins and that are not in the file. */
  missing_tables?: string[];
  /** The header of CSV: its line, from 1, its text, and the delimiter. */
  header?: { line: number; text: string; delimiter: string };
  /** Result of the check; absent while a question is open. */
  result?: IngestResult & {
    /** The first records as the load would write them. */
    records: { line: number; record: object }[];
    /** The first people who have a contact already. */
    matches?: PersonMatch[] | undefined;
    /** Whether every record of the file was checked. */
    is_whole: boolean;
  };
}

/** Checks a file. Throws `ColumnsError`, `MappingError` and `UnreadableInputError`. */
export async function checkFile(options: CheckOptions): Promise<Check> {
  const { stream, format, isBeginning = false } = options;
  const text = await openText(options.source, format, {
    ...options.reading,
    signal: options.signal,
    headers: Object.values(PRESETS).map(({ recognize }) => recognize),
    orWidest: true,
  });
  try {
    if (isBeginning) text.records = withoutCutEnd(text.records);
    const proposal = await propose(text, stream, options);
    const { header } = text;
    const columns = header?.columns;
    const mapping: MappingFile | undefined =
      columns === undefined || proposal.mapping === undefined || proposal.mapping.recognize !== undefined
        ? proposal.mapping
        : { ...proposal.mapping, recognize: marksOf(proposal.mapping, stream, columns) };
    const compiled = mapping && compileMapping(mapping, stream);
    const check: Check = {
      ...proposal,
      ...missingTablesOf(compiled),
      ...(mapping && { mapping: withoutEmpty(mapping) }),
      fields: fieldChoices(stream),
      required: requiredFields(stream),
      ...(header && {
        header: {
          line: header.preamble.split('\n').length,
          text: header.bytes.toString('utf8'),
          delimiter: header.delimiter,
        },
      }),
    };
    if (proposal.questions.length > 0) return check;
    const samples = new SampledWrites();
    const source = await mapText(text, stream, compiled);
    const outcome = await outcomeOf({ ...options, stream: samples.into(stream) }, source);
    const { records } = samples;
    const matches = options.people?.matches;
    return {
      ...check,
      result: { ...outcome.result, records, matches, is_whole: !isBeginning && !outcome.isEnded },
    };
  } finally {
    text.close();
  }
}

async function outcomeOf({ clock, source: _, ...options }: CheckOptions, source: RecordSource) {
  const result = emptyResult();
  try {
    await ingestRecords({ ...options, source, result, acceptance: acceptedByLine(clock) });
    return { result, isEnded: false };
  } catch (error) {
    if (error instanceof IngestLimitError) return { result, isEnded: true };
    throw error;
  }
}

const withoutEmpty = ({ recognize, ...file }: MappingFile): MappingFile =>
  recognize === undefined || recognize.length === 0 ? file : { ...file, recognize };

/** The records of a text that may end anywhere, without the last record, which may be incomplete. */
async function* withoutCutEnd(source: RecordSource): AsyncGenerator<RawRecord[]> {
  let held: RawRecord[] = [];
  try {
    for await (const records of source) {
      const ready = [...held, ...records];
      held = ready.splice(-1);
      if (ready.length > 0) yield ready;
    }
  } catch (error) {
    // Not an error: the text ends within a quoted cell.
    if (!(error instanceof UnreadableInputError)) throw error;
    if (held.length > 0) yield held;
  }
}
