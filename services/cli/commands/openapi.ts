import { apiDocument, endpoints } from '../../gateway/api.js';
import { readVersion } from '../../shared/version.js';
import { type Io, say } from '../io.js';

export function openapi(io: Io): void {
  say(io, JSON.stringify(apiDocument(endpoints, readVersion().version), null, 2));
}
