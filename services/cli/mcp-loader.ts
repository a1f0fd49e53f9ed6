import type { ServeMcp } from '../gateway/mcp-route.js';
import { explainMissing } from '../shared/optional-package.js';
import { readVersion } from '../shared/version.js';

/** Explains that the package for MCP is not installed, which is needed on standard input and over HTTP. */
export const withoutMcp = explainMissing(
  'MCP needs a package that is not installed: npm install @modelcontextprotocol/server.',
);

/** Loads the handler of MCP over HTTP for `startGateway`, at the first request of an assistant. */
export async function loadMcp(): Promise<ServeMcp> {
  const { mcpOverHttp } = await import('../mcp/http.js').catch(withoutMcp);
  return mcpOverHttp(readVersion().version);
}
