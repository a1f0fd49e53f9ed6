import { apiDocument, operations } from '../../gateway/api.js';
import { readVersion } from '../../shared/version.js';
import { type Io, printOut } from '../io.js';

export function openapi(io: Io): void {
  printOut(io, JSON.stringify(apiDocument(operations, readVersion().version), null, 2));
}
