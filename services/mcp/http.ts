/** The Model Context Protocol over HTTP. Each message has its own server, which keeps no state. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Client } from '../client/client.js';
import type { ServeMcp } from '../gateway/mcp-route.js';
import { createMcpServer } from './server.js';

export function mcpOverHttp(version: string): ServeMcp {
  return ({ request, body, apiKey, tools }, call) => {
    const client = { call: call as Client['call'] };
    // There are no changes that a client could subscribe to.
    const handler = createMcpHandler(() => createMcpServer(client, { version, apiKey, tools }), {
      maxSubscriptions: 0,
    });
    return handler.fetch(request, { parsedBody: body });
  };
}
