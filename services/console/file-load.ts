/** The load of a file: what a person chose, and how far the load has come. */
import type { CheckAnswer, IngestAnswer } from '../client/operations.js';
import type { FailureText } from './api.js';

export type Question = CheckAnswer['questions'][number];
/** What becomes of people who are there already. */
export type OnDuplicate = 'update' | 'create' | 'reject';

/** What a person has answered. */
export interface Settings {
  map?: string;
  date_order?: string;
  decimal?: string;
  charset?: string;
  header_row?: number;
  /** The field of each column that a person chose. */
  columns?: Record<string, string>;
}

/** A file that was checked, and how it is to be loaded. */
export interface LoadRequest {
  answer: CheckAnswer;
  file: File;
  settings: Settings;
  onDuplicate: OnDuplicate | undefined;
}

/** What is loaded, and how far that has come. */
export interface FileLoad extends LoadRequest {
  sentBytes: number;
  state: 'loading' | 'stopped' | 'done';
  result?: IngestAnswer;
  error?: FailureText;
  /** What is open after all, as the check had not read so far. */
  question?: Question;
}
