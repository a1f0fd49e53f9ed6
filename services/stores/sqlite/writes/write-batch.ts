import { RecordRejectedError } from '../../../shared/store-errors.js';

export interface BatchResult {
  /** Records written or rejected, from the first; the others were not tried. */
  done: number;
  rejected: { index: number; code: string; pointer: string; detail: string }[];
}

/** Writes records in order until all are done or time is up, at least one. */
export function writeBatch<Record>(
  records: readonly Record[],
  isTimeUp: () => boolean,
  write: (record: Record) => void,
): BatchResult {
  const result: BatchResult = { done: 0, rejected: [] };
  for (const record of records) {
    if (result.done > 0 && isTimeUp()) break;
    try {
      write(record);
    } catch (error) {
      if (!(error instanceof RecordRejectedError)) throw error;
      const { code, pointer, message: detail } = error;
      result.rejected.push({ index: result.done, code, pointer, detail });
    }
    result.done++;
  }
  return result;
}
