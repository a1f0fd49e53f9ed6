import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createClient } from '../../client/index.js';
import { createMcpServer, type ToolSet } from '../../mcp/server.js';
import { readVersion } from '../../shared/version.js';
import { CommandError, UsageError } from '../errors.js';
import { baseAddress } from '../gateway.js';
import { type Io, printErr } from '../io.js';

const DEFAULT_URL = 'http://127.0.0.1:8080';
/** Short limits, because a model waits for the response. */
const RETRIES = { maxAttempts: 3, maxWaitMs: 10_000, timeoutMs: 60_000 };

/** Size of the largest API request, as one line of JSON. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

export interface McpOptions {
  url?: string;
  tools?: ToolSet;
}

/** Serves the Model Context Protocol on standard input and output until the input ends. */
export async function mcp(io: Io, options: McpOptions): Promise<void> {
  const url = baseAddress(options.url ?? (io.env.REACHLINE_URL || DEFAULT_URL));
  const apiKey = io.env.REACHLINE_API_KEY;
  if (!apiKey)
    throw new UsageError('Set REACHLINE_API_KEY to a key of the organization (reachline keys create).');
  const client = createClient({ url, apiKey, ...RETRIES });
  const { version } = readVersion();
  const transport = new StdioServerTransport(io.stdin, io.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const server = serveStdio(() => createMcpServer(client, { version, apiKey, tools: options.tools }), {
    transport,
    onerror: (error) => printErr(io, error.message),
  });
  // The transport closes itself at the end of the input, and after a message that is too long.
  const { onclose } = transport;
  await new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  await server.close();
  if (!io.stdin.readableEnded) throw new CommandError('The connection was closed because of that error.');
}
