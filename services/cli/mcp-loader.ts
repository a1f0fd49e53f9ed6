import type { ServeMcp } from '../gateway/mcp-route.js';
import { explainMissing } from '../shared/optional-package.js';
import { readVersion } from '../shared/version.js';

/** Explains that the package for assistants is not installed, which serves them on standard input and over HTTP. */
export const withoutMcp = explainMissing(
  'Assistants need a package that is not installed: npm install @modelcontextprotocol/server.',
);

/** For `startGateway`: what answers assistants over HTTP, loaded with the first of them. */
export async function loadMcp(): Promise<ServeMcp> {
  const { mcpOverHttp } = await import('../mcp/http.js').catch(withoutMcp);
  return mcpOverHttp(readVersion().version);
}
