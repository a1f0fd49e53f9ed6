/** State of a file load: the choices of a person, and the progress. */
import type { CheckAnswer, IngestAnswer } from '../client/operations.js';
import type { FailureText } from './api.js';

export type Question = CheckAnswer['questions'][number];
/** What to do with people who have a contact already. */
export type OnDuplicate = 'update' | 'create' | 'reject';

/** Answers that a person gave. */
export interface Settings {
  map?: string;
  date_order?: string;
  decimal?: string;
  charset?: string;
  header_row?: number;
  /** The field that a person chose for each column. */
  columns?: Record<string, string>;
}

/** A checked file, and how to load it. */
export interface LoadRequest {
  answer: CheckAnswer;
  file: File;
  settings: Settings;
  onDuplicate: OnDuplicate | undefined;
  /** Id of the import; undefined for other records than contacts. */
  importId: string | undefined;
  /** Audience that the contacts join. The load creates an audience without an id. */
  audience: { id?: string; name: string } | undefined;
}

/** A load and its progress. */
export interface FileLoad extends LoadRequest {
  sentBytes: number;
  state: 'loading' | 'stopped' | 'done';
  result?: IngestAnswer;
  error?: FailureText;
  /** A question that only the load found, because the check read just the beginning. */
  question?: Question;
}
