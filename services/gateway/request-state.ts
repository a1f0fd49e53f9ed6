import type { JsonAnswer } from '../http/handler.js';
import type { Principal } from '../http/principal.js';
import type { AdmittedRequest } from './admission.js';

/** `ctx.state`: what the middlewares share about one request. */
export interface RequestState {
  requestId: string;
  /** IP address of the client. */
  client: string;
  principal?: Principal;
  /** Names and values in turn of headers that the response will have, unless it sets them itself. */
  headers: string[];
  /** A response with status 200. */
  answer?: JsonAnswer;
  admitted?: AdmittedRequest;
  /** Path pattern of the route: the label of the metrics. */
  operation?: string;
  /** Code of the problem in the response. */
  problem?: string;
  /** Status of the problem that ended a response after its headers. */
  cutOffStatus?: number;
}
