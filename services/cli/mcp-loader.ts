import type { ServeMcp } from '../gateway/mcp-route.js';
import { explainMissing } from '../shared/optional-package.js';
import { readVersion } from '../shared/version.js';

/** Of the package that answers assistants, on standard input and over HTTP. */
export const withoutMcp = explainMissing(
  'Assistants need a package that is not installed: npm install @modelcontextprotocol/server.',
);

/** For `startGateway`: what answers assistants over HTTP, loaded with the first of them. */
export async function loadMcp(): Promise<ServeMcp> {
  const { mcpOverHttp } = await import('../mcp/http.js').catch(withoutMcp);
  return mcpOverHttp(readVersion().version);
}
