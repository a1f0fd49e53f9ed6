/** `reachline-client`: the API for Node.js and browsers; see docs/reference/client.md. */
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Export,
  type ExportFormat,
  type ExportRequestOf,
  type FeedChange,
  type ItemOf,
  type KeyDescription,
  type OperationPath,
  type PagedPath,
  type RequestOf,
  type ResponseOf,
} from './client.js';
export type {
  IngestOptions,
  IngestRecord,
  IngestResult,
  RecordOf,
  RejectedRecord,
  StreamName,
} from './ingest.js';
export type { Operations, ProblemCode, StreamRecords } from './operations.js';
export {
  AuthenticationProblem,
  ConflictProblem,
  ConnectionError,
  type FieldError,
  InsufficientCreditsProblem,
  NotFoundProblem,
  PermissionProblem,
  type ProblemDocument,
  RateLimitProblem,
  ReachlineProblem,
  UnavailableProblem,
  ValidationProblem,
} from './problems.js';
export type { RetryOptions } from './transport.js';
