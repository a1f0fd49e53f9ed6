/**
 * Proposes how a text becomes records of a stream. The proposal is the preset that recognizes the text, or a drafted mapping with open
 * questions.
 */
import { didYouMean } from '../../services/shared/did-you-mean.js';
import { isObject } from '../../services/shared/json.js';
import type { DeclaredForms, FormDoubt } from '../mapping/column-forms.js';
import { readForms } from '../mapping/column-forms.js';
import { compileMapping } from '../mapping/compile.js';
import { draftMapping, OPEN } from '../mapping/draft.js';
import { FULL_NAME, requiredFields, sourceFor, withChoices, withSettledForms } from '../mapping/edit.js';
import { renamed } from '../mapping/map-source.js';
import type { SourceRecord } from '../mapping/mapping.js';
import {
  isOwnForm,
  type MappingFile,
  type SourceOptions,
  type ValueSource,
} from '../mapping/mapping-file.js';
import { UnrecognizedInputError } from '../pipeline.js';
import { AUTO } from '../presets/recognize.js';
import { ColumnsError } from '../sources/csv.js';
import { peekRecords, recognizeText } from '../sources/recognize-text.js';
import { type OpenedText, readFirstRows } from '../sources/text.js';
import { STREAMS } from '../streams/index.js';
import type { Stream } from '../streams/stream.js';

/** A question that the file leaves open. A client answers by sending a choice as the parameter `answer` of the next request. */
export interface Question {
  code: FormDoubt['code'] | 'several_presets' | 'other_stream' | 'required_field';
  answer: 'date_order' | 'decimal' | 'map' | 'stream' | 'columns';
  /** The column that the question is about. */
  column?: string;
  /** The required field that no column provides. */
  field?: string;
  choices: { value: string; description?: string; text?: string; reading?: string }[];
}

export interface ProposedColumn {
  column: string;
  /** The field that the column becomes; `full_name` for first and last name; empty if the mapping leaves the column out. */
  field: string;
  /** All fields that the column becomes. */
  fields: string[];
  /** Some texts of the column. */
  samples: string[];
}

export interface Proposal {
  preset?: string;
  /** Description of what the preset reads. */
  preset_description?: string;
  /** Mapping with every date and number format stated. Absent if the records already are records of the stream. */
  mapping?: MappingFile;
  columns: ProposedColumn[];
  questions: Question[];
}

export interface ProposeOptions {
  /** The mapping that comes with the request. */
  file?: MappingFile | undefined;
  /** Name of a preset; `auto` recognizes the preset by the columns, `draft` uses no preset. */
  preset?: string;
  /** The field that a user chose, for each of these columns. */
  choices?: Readonly<Record<string, string>>;
  declared?: DeclaredForms;
}

/** Preset name that means: use no preset. */
export const DRAFT = 'draft';
const MAX_SAMPLES = 3;
const MAX_SAMPLE_LENGTH = 100;
const DRAFT_SAMPLES = 100;
/** Maximum length of a column name. Paths in a mapping may not be longer, so a column with a longer name is left out. */
const MAX_NAME_LENGTH = 256;
const MAX_MARKS = 16;
const MAX_UNKNOWN_COLUMNS = 20;

/** Throws `ColumnsError` if choices name columns that the table does not have. */
function requireColumns(choices: Readonly<Record<string, string>>, columns: readonly string[]): void {
  const known = new Set(columns);
  const problems = Object.keys(choices)
    .filter((name) => !known.has(name))
    .slice(0, MAX_UNKNOWN_COLUMNS)
    .map((name) => {
      const detail = `columns names ${JSON.stringify(name.slice(0, MAX_NAME_LENGTH))}, which is no column of the file.`;
      return `${detail} ${didYouMean(name, columns)}`.trimEnd();
    });
  if (problems.length > 0) throw new ColumnsError(problems.join('\n'));
}

/**
 * Proposes a mapping from the first rows of the text, which can still be read afterwards. Throws `MappingError` for chosen fields that the
 * stream does not have.
 */
export async function propose(
  text: OpenedText,
  stream: Stream,
  { file: given, preset: named = AUTO, choices = {}, declared = {} }: ProposeOptions = {},
): Promise<Proposal> {
  const { rows, samples, isWhole } = await beginningOf(text);
  const columns = text.header?.columns;
  if (columns !== undefined) requireColumns(choices, columns);
  const questions: Question[] = [];
  let recognized: Pick<Proposal, 'preset' | 'preset_description'> = {};
  let file = given;
  if (file === undefined && named !== DRAFT) {
    const found = await recognizeText(text, named, stream.name);
    if ('preset' in found) {
      file = found.preset;
      recognized = { preset: found.name, preset_description: found.preset.description };
    } else if (named !== AUTO) throw new UnrecognizedInputError(found.reason);
    else if (found.code === 'several_presets') questions.push(whichPreset(found.fitting));
    else if (found.code === 'other_stream')
      questions.push(
        whichStream(found.fitting.map(({ preset: { stream, description } }) => ({ stream, description }))),
      );
  }
  const isOwn = file === undefined && fitsOwn(stream, text, samples);
  if (isOwn && text.header === undefined && Object.keys(choices).length === 0) {
    return { columns: [], questions };
  }
  const others =
    file === undefined && !isOwn && named !== DRAFT
      ? streamsOf(text, samples).filter((name) => name !== stream.name)
      : [];
  if (others.length > 0 && questions.length === 0)
    questions.push(whichStream(others.map((stream) => ({ stream }))));
  const drafted = draftOf(stream, text, samples);
  const valuesOf = (column: string) =>
    samples.flatMap((sample) => {
      const value = sample[column];
      return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
    });
  const own = { ...(drafted.timezone && { timezone: drafted.timezone }), fields: {} };
  let mapping: MappingFile = file ?? (isOwn ? own : drafted);
  mapping = withChoices(mapping, choices, stream, valuesOf);
  mapping = withId(mapping, stream, valuesOf);
  const compiled = compileMapping(mapping, stream);
  const names = columns === undefined ? undefined : compiled.columnNames(columns);
  const nameOf = (column: string) => names?.get(column) ?? column;
  const usesOf = (column: string) => compiled.fieldsOf(nameOf(column));
  const filled = new Set([
    ...Object.keys(mapping.fields),
    ...(isOwn && columns ? columns.flatMap(usesOf) : []),
  ]);
  const open = requiredFields(stream).filter((field) => !filled.has(field));
  const paths = (columns ?? leafNames(samples)).filter(
    (name) => name !== '' && name.length <= MAX_NAME_LENGTH,
  );
  questions.push(
    ...open.map(
      (field): Question => ({
        code: 'required_field',
        answer: 'columns',
        field,
        choices: [...new Set(paths)].map((value) => ({ value })),
      }),
    ),
  );
  if (text.header !== undefined && columns !== undefined) {
    const table = {
      rows: names === undefined || names.size === 0 ? rows : rows.map((row) => renamed(row, names)),
      preamble: text.header.preamble,
      isWhole,
      isOwnForm: (isOwn || isOwnForm(mapping)) && text.header.delimiter !== ';',
    };
    const { forms, doubts } = await readForms(compiled.openColumns, table, {
      dateOrder: declared.dateOrder ?? mapping.date_order,
      decimal: declared.decimal ?? mapping.decimal,
    } as DeclaredForms);
    const isHere = new Set(columns.map(nameOf));
    questions.push(
      ...oneOfEach(
        doubts.map(({ doubt }) => formQuestion(doubt)).filter(({ column = '' }) => isHere.has(column)),
      ),
    );
    mapping = withSettledForms(mapping, stream, forms, columns.map(nameOf));
  }
  mapping = {
    ...mapping,
    ...(declared.dateOrder && { date_order: declared.dateOrder }),
    ...(declared.decimal && { decimal: declared.decimal }),
  };
  return {
    ...recognized,
    mapping,
    columns: paths.map((column) => {
      const fields = usesOf(column);
      return { column, field: choiceOf(fields), fields, samples: samplesOf(valuesOf(column)) };
    }),
    questions,
  };
}

async function beginningOf(text: OpenedText) {
  if (text.header === undefined) {
    const samples = await peekRecords(text);
    return { rows: [], samples, isWhole: false };
  }
  const { source, rows, isWhole } = await readFirstRows(text.records);
  text.records = source;
  const empty = Object.fromEntries(text.header.columns.map((name) => [name, '']));
  const samples = rows.slice(0, DRAFT_SAMPLES).map((row) => ({ ...empty, ...row }));
  return { rows, samples: samples.length === 0 ? [empty] : samples, isWhole };
}

const leafNames = (samples: readonly SourceRecord[]) => [
  ...new Set(samples.flatMap((sample) => Object.keys(sample).filter((name) => !isObject(sample[name])))),
];

/** Whether every column, or every field of the first records, is a field of the stream, and the required fields exist. */
function fitsOwn(stream: Stream, { header }: OpenedText, samples: readonly SourceRecord[]): boolean {
  const own = compileMapping({ fields: {} }, stream);
  const names = header?.columns ?? [...new Set(samples.flatMap((sample) => Object.keys(sample)))];
  if (names.length === 0) return false;
  const renamedColumns = own.columnNames(names);
  const columns = names.map((name) => renamedColumns.get(name) ?? name);
  const hasRequired = requiredFields(stream).every((field) => columns.includes(field));
  return hasRequired && own.checkColumns(columns).length === 0;
}

const streamsOf = (text: OpenedText, samples: readonly SourceRecord[]): string[] =>
  Object.values(STREAMS as Record<string, Stream>)
    .filter((stream) => fitsOwn(stream, text, samples))
    .map(({ name }) => name);

/** A drafted mapping, without the fields for which the draft found no source. */
function draftOf(stream: Stream, { header }: OpenedText, samples: readonly SourceRecord[]): MappingFile {
  const columns = header?.columns.filter((name) => name !== '' && name.length <= MAX_NAME_LENGTH);
  const { mapping } = draftMapping(stream, samples, { columns: columns && [...new Set(columns)] });
  const { timezone, period, dimensions } = mapping;
  const isOpen = (source: ValueSource) => JSON.stringify(source).includes(OPEN);
  const fields = Object.fromEntries(Object.entries(mapping.fields).filter(([, source]) => !isOpen(source)));
  return {
    stream: mapping.stream,
    ...(timezone && { timezone }),
    ...(period && { period }),
    ...(dimensions && { dimensions }),
    fields,
    ignore: 'rest',
  };
}

/** Derives the id of contacts without an id from their email or profile, so that the same person always gets the same id. */
function withId(
  file: MappingFile,
  stream: Stream,
  valuesOf: (column: string) => readonly string[],
): MappingFile {
  const { fields } = file;
  if (stream.name !== 'contacts' || Object.hasOwn(fields, 'contact_id')) return file;
  const columnOf = (field: string) => {
    const [source] = [fields[field] ?? []].flat();
    const first = typeof source === 'object' ? (source.all?.[0] ?? source.path) : source;
    return typeof first === 'object' ? first.path : first;
  };
  const email = columnOf('work_emails') ?? columnOf('personal_emails');
  if (email !== undefined) {
    const source = sourceFor('contact_id', email, [...valuesOf(email), '@']);
    return { ...file, fields: { contact_id: source, ...fields } };
  }
  const profile = columnOf('network_a_url');
  if (profile === undefined) return file;
  return {
    ...file,
    fields: { contact_id: { path: profile, profile: true, id: true } as SourceOptions, ...fields },
  };
}

/** The field of a column, as a user would choose it. */
function choiceOf(fields: readonly string[]): string {
  if (fields.includes('first_name') && fields.includes('last_name')) return FULL_NAME;
  // If the column provides `contact_id` too, the id is derived from an email or profile, so the other field counts.
  return fields.find((field) => field !== 'contact_id') ?? fields[0] ?? '';
}

const samplesOf = (values: readonly string[]) =>
  [...new Set(values.filter((value) => value.trim() !== ''))]
    .slice(0, MAX_SAMPLES)
    .map((value) => (value.length > MAX_SAMPLE_LENGTH ? `${value.slice(0, MAX_SAMPLE_LENGTH)}…` : value));

const whichPreset = (fitting: readonly { name: string; preset: { description: string } }[]): Question => ({
  code: 'several_presets',
  answer: 'map',
  choices: fitting.map(({ name, preset }) => ({ value: name, description: preset.description })),
});

/** Asks which stream the file is for. Each stream is a choice once, with a description of what the file would be. */
const whichStream = (found: readonly { stream: string; description?: string }[]): Question => ({
  code: 'other_stream',
  answer: 'stream',
  choices: [...new Map(found.map(({ stream: value, ...what }) => [value, { value, ...what }])).values()],
});

const formQuestion = ({ code, column, readings }: FormDoubt): Question => ({
  code,
  answer: code === 'ambiguous_date' ? 'date_order' : 'decimal',
  column,
  choices: readings.map(({ choice, text, reading }) => ({
    value: choice,
    text,
    ...(reading && { reading }),
  })),
});

/** Keeps one question of each kind, because one answer applies to all columns. */
const oneOfEach = (questions: readonly Question[]) =>
  questions.filter(({ code }, index) => questions.findIndex((each) => each.code === code) === index);

/** The columns of a file that a mapping reads. They recognize the file, so that the mapping is not used for another file. */
export function marksOf(mapping: MappingFile, stream: Stream, columns: readonly string[]): string[] {
  const compiled = compileMapping(mapping, stream);
  const names = compiled.columnNames(columns);
  const taken = columns.filter((column) => compiled.fieldsOf(names.get(column) ?? column).length > 0);
  return [...new Set(taken.map((column) => names.get(column) ?? column))].slice(0, MAX_MARKS);
}
