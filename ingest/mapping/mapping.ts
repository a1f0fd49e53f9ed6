/** Interface of a compiled mapping. */
import type { DeadLetter } from '../records/outcome.js';
import type { DeclaredForms, OpenColumns } from './column-forms.js';
import type { ColumnForm } from './target-types.js';

export type SourceRecord = Readonly<Record<string, unknown>>;

/**
 * A record of the stream, a rejection, or `skipped` if `where` of the mapping leaves the record out. Pointers name fields of the stream.
 */
export type MappingOutcome = MappedRecord | DeadLetter | 'skipped';

export interface MappedRecord {
  record: Record<string, unknown>;
  /** Number of placeholders that the mapping left out; absent if it left out none. */
  leftOut?: number;
}

/** The rows of a joined table by key, each with the values at the paths of `JoinPlan`. */
export type JoinedRows = ReadonlyMap<string, SourceRecord>;

/** How to read a table of the export that a mapping joins: key, version and values of its rows. */
export interface JoinPlan {
  table: string;
  /** Whether the rows may be messages among others, such as in the file being loaded. */
  isAmongMessages: boolean;
  /** The rows of a message that holds a list of rows; null for any other message. Absent if messages are rows. */
  split?: ((message: SourceRecord) => unknown[] | null) | undefined;
  /** The key of a row; undefined if the row has no key. With `onlyMessages`, only rows in an envelope have a key. */
  keyOf(row: SourceRecord, onlyMessages?: boolean): string | undefined;
  /** The version of a row, compared as text; '' if the row has no version. */
  versionOf(row: SourceRecord): string;
  /** The parts of a row to keep. */
  pick(row: SourceRecord): SourceRecord;
}

/** A column of a table, and its name in the mapping. */
export type NamedColumn = readonly [column: string, name: string];

export interface Mapping {
  /** The records of a message that holds a list of records, up to a limit; null for any other message. Absent if messages are records. */
  split?: ((message: SourceRecord, limit?: number) => unknown[] | null) | undefined;
  /** Maps a source record. Has no side effects; accepts any JSON object. */
  apply(source: SourceRecord): MappingOutcome;
  /** The paths of `recognize` that a source record lacks; null if `where` leaves the record out. */
  missingMarks(source: SourceRecord): string[] | null;
  /** The columns of a table on which `missingMarks` depends. */
  marksOfTable(columns: readonly NamedColumn[]): NamedColumn[];
  /** Columns to read of each join before `apply`. */
  joins: { [name: string]: JoinPlan };
  /** Names of the joined tables whose rows the mapping lacks. Fields that come from these tables stay empty. */
  missingTables: string[];
  /** The mapping with the rows of other tables. */
  withJoins(rows: { [name: string]: JoinedRows }): Mapping;
  /** Columns of a table whose format must be determined, and the formats that the mapping declares. */
  openColumns: OpenColumns;
  declared: DeclaredForms;
  /** Paths that every record of the source has. An inner list holds alternatives: a record has at least one of them. */
  marks: readonly (string | readonly string[])[];
  /** The names that the mapping uses for columns that differ from its names only in capitals. */
  columnNames(columns: readonly string[]): ReadonlyMap<string, string>;
  /** The mapping with formats by column, or one format for every value. */
  withForms(forms: ReadonlyMap<string, ColumnForm> | ColumnForm): Mapping;
  /** Problems with the columns of a table, as sentences. */
  checkColumns(columns: readonly string[]): string[];
  /** The paths that none of these columns provides. */
  missingPaths(columns: readonly string[]): string[];
  /** The fields of the stream that a column becomes; empty if the mapping leaves the column out. */
  fieldsOf(column: string): string[];
  /** Whether a record of this stream names its organization. */
  givesOrganization(columns: readonly string[]): boolean;
}
