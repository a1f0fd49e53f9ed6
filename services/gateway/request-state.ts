import type { Principal } from '../http/principal.js';
import type { AdmittedRequest } from './admission.js';

/** What the parts of the gateway tell each other about one request. */
export interface RequestState {
  requestId: string;
  /** Address of the client. */
  client: string;
  principal?: Principal;
  admitted?: AdmittedRequest;
  /** Path pattern of the route: the label of the metrics. */
  operation?: string;
  /** Code of the problem the request was answered with. */
  problem?: string;
}
