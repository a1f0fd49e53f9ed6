import { apiDocument, endpoints } from '../../gateway/api.js';
import { readVersion } from '../../shared/version.js';
import { type Io, printOut } from '../io.js';

export function openapi(io: Io): void {
  printOut(io, JSON.stringify(apiDocument(endpoints, readVersion().version), null, 2));
}
