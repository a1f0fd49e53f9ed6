/** Interface of a compiled mapping. */
import type { DeadLetter } from '../records/outcome.js';
import type { DeclaredForms, OpenColumns } from './column-forms.js';
import type { ColumnForm } from './target-types.js';

export type SourceRecord = Readonly<Record<string, unknown>>;

/** A record of the stream, its rejection, or `skipped` where the mapping's `where` leaves it out. Pointers name fields of the stream. */
export type MappingOutcome = MappedRecord | DeadLetter | 'skipped';

export interface MappedRecord {
  record: Record<string, unknown>;
  /** Values that were left out because they are none; absent where there are none. */
  leftOut?: number;
}

/** The rows of a joined table by key, each with the values at the paths of `JoinPlan`. */
export type JoinedRows = ReadonlyMap<string, SourceRecord>;

/** How another table of the export is read. */
export interface JoinPlan {
  table: string;
  /** Whether the rows may be messages among others, as in the file that is loaded. */
  isAmongMessages: boolean;
  /** The key of a row, with `onlyMessages` of one in an envelope alone; undefined where it has none. */
  keyOf(row: SourceRecord, onlyMessages?: boolean): string | undefined;
  /** The version of a row, to be compared as text; '' without one. */
  versionOf(row: SourceRecord): string;
  /** The parts of a row to keep. */
  pick(row: SourceRecord): SourceRecord;
}

/** A column of a table, and what the mapping calls it. */
export type NamedColumn = readonly [column: string, name: string];

export interface Mapping {
  /** The records of a message that holds a list of them, up to a limit; null for any other message. Absent where messages are records. */
  split?: ((message: SourceRecord, limit?: number) => unknown[] | null) | undefined;
  /** Pure. May be called with any JSON object. */
  apply(source: SourceRecord): MappingOutcome;
  /** The paths of `recognize` that a source record lacks; null where `where` leaves the record out. */
  missingMarks(source: SourceRecord): string[] | null;
  /** The columns of a table that decide what `missingMarks` says of its rows. */
  marksOfTable(columns: readonly NamedColumn[]): NamedColumn[];
  /** Columns to read of each join before `apply`. */
  joins: { [name: string]: JoinPlan };
  /** Names of the joined tables whose rows the mapping lacks: fields that come from them stay empty. */
  missingTables: string[];
  /** The mapping with the rows of other tables. */
  withJoins(rows: { [name: string]: JoinedRows }): Mapping;
  /** Columns of a table whose form is to be settled, and what the mapping declares of it. */
  openColumns: OpenColumns;
  declared: DeclaredForms;
  /** The paths that every record of the source has; of a list one. */
  marks: readonly (string | readonly string[])[];
  /** The names under which the mapping knows columns that it spells with other capitals. */
  columnNames(columns: readonly string[]): ReadonlyMap<string, string>;
  /** The mapping for a table of these forms, by column, or for values of these forms in any. */
  withForms(forms: ReadonlyMap<string, ColumnForm> | ColumnForm): Mapping;
  /** The problems with a table of these columns, as sentences. */
  checkColumns(columns: readonly string[]): string[];
  /** The paths that none of these columns gives. */
  missingPaths(columns: readonly string[]): string[];
  /** The fields of the stream that a column becomes; none where it is left out. */
  fieldsOf(column: string): string[];
  /** Whether a record of this stream names its organization. */
  givesOrganization(columns: readonly string[]): boolean;
}
