/** Problems of requests that bring records. Each problem says what became of the records that came before it. */
import { AmbiguousInputError } from '../../../ingest/mapping/column-forms.js';
import type { MappingError } from '../../../ingest/mapping/mapping-file.js';
import { type IngestResult, UnrecognizedInputError } from '../../../ingest/pipeline.js';
import { UnreadableInputError } from '../../../ingest/records/raw-record.js';
import { ColumnsError } from '../../../ingest/sources/csv.js';
import { TemporaryFileError } from '../../../ingest/sources/replayable.js';
import { invalid, Problem } from '../../http/problems.js';
import { toProblem as problemOf } from '../error-handler.js';
import { noTemporarySpace } from './body.js';
import { INGEST_LIMITS } from './result-schema.js';

/** The problem of a request with too many rejected records. Records that `result` counts as accepted stay accepted. */
export function tooManyRejected({ accepted, rejected, errors }: IngestResult): Problem {
  const done = `${accepted} of the records before it were accepted, ${rejected} rejected, and no record after it was read`;
  return new Problem(
    'records_rejected',
    `A request ends after ${INGEST_LIMITS.rejected} rejected records: ${done}; see errors.`,
    { accepted, rejected, errors },
  );
}

/** Added to the detail if the deadline ends a request, because the counts may then be too low. */
export const STILL_WRITTEN = ' More may have been written since.';

/**
 * The problem of a request that failed after some of its records, with the outcome of these records. Returns the error itself if it came
 * before the first record.
 */
export function withOutcome<T>(
  error: T,
  { accepted, rejected, errors }: IngestResult,
  note = '',
): T | Problem {
  if (accepted + rejected === 0) return error;
  const { code, message, extras, headers } = problemOf(error);
  const detail = message.replace(/None of these records was accepted[.;] send/i, 'Send');
  const problem = new Problem(
    code,
    `${detail} Of the records before it, ${accepted} were accepted and ${rejected} rejected.${note}`,
    { ...extras, accepted, rejected, errors: extras.errors ?? errors },
    headers,
  );
  problem.cause = error;
  return problem;
}

/** The problem of a request whose records were rejected. `accepted` is above 0 if only the store could reject a record. */
export const recordsRejected = ({ accepted, rejected, errors }: IngestResult) =>
  new Problem(
    'records_rejected',
    accepted === 0
      ? `${rejected} records were rejected, so no record was accepted; see errors.`
      : `The store rejected ${rejected} records; the others are accepted, and sending them again changes nothing.`,
    { accepted, rejected, errors },
  );

/** A problem with an entry for each rule that the mapping violates. */
export const invalidMapping = (error: MappingError): Problem =>
  invalid(...error.message.split('\n').map((detail) => ({ pointer: '/mapping', code: 'mapping', detail })));

/** Maps an error of the body to a Problem; returns any other error unchanged. */
export function toProblem(error: unknown): unknown {
  if (error instanceof ColumnsError) {
    const errors = error.message.split('\n').map((detail) => ({ pointer: '', code: 'columns', detail }));
    return invalid(...errors);
  }
  if (error instanceof AmbiguousInputError) {
    return invalid({ pointer: '', code: error.code, detail: error.message });
  }
  if (error instanceof UnrecognizedInputError) {
    const detail = error.message.replaceAll('--preset ', '?map=');
    return invalid({ pointer: '?map', code: 'unknown_mapping', detail });
  }
  if (error instanceof TemporaryFileError) return noTemporarySpace(error);
  if (error instanceof UnreadableInputError) return new Problem(error.code, error.message);
  return error;
}
