import type { Principal } from '../http/principal.js';
import type { ProgressLines } from '../http/progress.js';

/** `ctx.state`: what the middlewares share about one request. */
export interface RequestState {
  requestId: string;
  /** IP address of the client. */
  client: string;
  principal?: Principal;
  /** Path pattern of the route: the label of the metrics. */
  operation?: string;
  /** Code of the problem in the response. */
  problem?: string;
  /** Status of the problem that ended a response after its headers. */
  cutOffStatus?: number;
  /** The lines of a response with progress. A problem becomes the last line. */
  lines?: ProgressLines;
}
