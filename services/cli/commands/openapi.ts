import { endpoints } from '../../gateway/app.js';
import { openApiDocument } from '../../http/openapi.js';
import { readVersion } from '../../shared/version.js';
import { type Io, say } from '../io.js';

export function openapi(io: Io): void {
  say(io, JSON.stringify(openApiDocument(endpoints, readVersion().version), null, 2));
}
