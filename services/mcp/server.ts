/** A server of the Model Context Protocol: a client of the gateway that offers its operations to a model as tools. */
import {
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Client, OperationPath } from '../client/client.js';
import { ConnectionError, ReachlineProblem } from '../client/problems.js';
import type { ApiEndpoint } from '../gateway/api.js';
import { PROBLEMS, Problem } from '../http/problems.js';
import type { StatusResponse } from '../status/schema.js';
import { contactCreator, createContactTool } from './create-contact.js';
import { fitting } from './fit.js';
import { metricDescriptions } from './metrics.js';
import { MAX_RESULT_CHARACTERS, type ResultOptions, resultText } from './result.js';
import type { JsonSchema } from './tool-schema.js';
import { CORE, readingTools, type Tool, writingTools } from './tools.js';
import { trustReader } from './trust.js';

const INSTRUCTIONS =
  'Reachline holds contacts, audiences, website visits and advertising figures of one organization. Call describe first: it names the metrics with their formulas, how fresh each stream is, and from which day on advertising figures are provisional. Every result carries `trust`: repeat its warnings, and say when figures are provisional or old. What is not in a result is not known, and a field that is left out is null. Lists of advertising have `totals`: never add up rows. A result with `cut` is a part: it says how to go on. The resource reachline://sql/views has the columns that `sql` reads.';

export type ToolSet = 'core' | 'all';

export interface McpServerOptions {
  version: string;
  /** The key with which `client` sends requests. */
  apiKey: string;
  /** Whether all tools are listed, or the usual ones. */
  tools?: ToolSet;
}

const DESCRIBE = {
  name: 'describe',
  title: 'Describe what there is',
  description:
    'The organization, every advertising metric with its unit and formula, how fresh each stream is, and from which day on figures are provisional.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false } satisfies JsonSchema,
};

/** Parts of the connection that tools use. */
interface Session {
  client: Pick<Client, 'call'>;
  readStatus(): Promise<StatusResponse>;
  trustOf: ReturnType<typeof trustReader>;
  createContact: ReturnType<typeof contactCreator>;
}

interface ServedTool {
  listed: Pick<Tool, 'name' | 'title' | 'description' | 'inputSchema'> & {
    annotations: ToolAnnotations;
  };
  run(session: Session, args: Record<string, unknown>, signal: AbortSignal): Promise<object>;
}

function served(
  { name, title, description, inputSchema }: ServedTool['listed'] | Omit<Tool, 'endpoint' | 'defaults'>,
  annotations: ToolAnnotations,
  run: ServedTool['run'],
): ServedTool {
  const listed = { name, title, description, inputSchema };
  return { listed: { ...listed, annotations: { openWorldHint: false, ...annotations } }, run };
}

const call = ({ client }: Session, { path }: ApiEndpoint, args: object, signal: AbortSignal) =>
  client.call(path as OperationPath, args as never, { signal });

const optionsOf = (args: object): ResultOptions => ({ hasSeries: 'granularity' in args });

/** Every key sees the same tools, so they are described once per process; the server of each message only refers to them. */
const TOOLS: readonly ServedTool[] = [
  ...readingTools.map((tool) =>
    served(tool, { readOnlyHint: true }, async (session, args, signal) => {
      const run = (more: object) =>
        call(session, tool.endpoint, { ...tool.defaults, ...args, ...more }, signal);
      const sent = { ...tool.defaults, ...args };
      const { result, cut } = await fitting(run, sent, tool.inputSchema.properties, optionsOf(args));
      const trust = await session.trustOf(tool.endpoint, result);
      const { warnings: _, ...rest } = result as { warnings?: unknown };
      return { trust, ...(cut && { cut }), result: rest };
    }),
  ),
  served(DESCRIBE, { readOnlyHint: true }, async ({ readStatus }) => ({
    status: await readStatus(),
    metrics: metricDescriptions,
  })),
  ...writingTools.map((tool) =>
    served(
      tool,
      { readOnlyHint: false, destructiveHint: tool.isDestructive },
      async (session, args, signal) => ({ result: await call(session, tool.endpoint, args, signal) }),
    ),
  ),
  served(createContactTool, { readOnlyHint: false, destructiveHint: false }, ({ createContact }, args) =>
    createContact(args),
  ),
];
const TOOLS_BY_NAME = new Map(TOOLS.map((tool) => [tool.listed.name, tool]));
/** The schemas are JSON, which their type does not say. */
const listOf = (tools: readonly ServedTool[]) =>
  ({ tools: tools.map(({ listed }) => listed) }) as unknown as ListToolsResult;
const LISTS: Readonly<Record<ToolSet, ListToolsResult>> = {
  core: listOf(TOOLS.filter(({ listed }) => CORE.has(listed.name))),
  all: listOf(TOOLS),
};

const VIEWS_URI = 'reachline://sql/views';
const VIEWS_RESOURCE = {
  uri: VIEWS_URI,
  name: 'sql-views',
  title: 'Views that SQL reads',
  description: 'The views with their columns, types and meanings.',
  mimeType: 'text/csv',
};
const VIEWS_STATEMENT =
  "SELECT table_name, column_name, data_type, column_comment FROM information_schema.columns WHERE column_name != 'organization_id' ORDER BY table_name, ordinal_position";

/** The gateway checks arguments, because its messages are better. */
export function createMcpServer(
  client: Pick<Client, 'call'>,
  { version, apiKey, tools = 'core' }: McpServerOptions,
): Server {
  const server = new Server(
    { name: 'reachline', version },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: true }, resources: {} } },
  );
  const readStatus = (): Promise<StatusResponse> => client.call('/api/status', {});
  const session: Session = {
    client,
    readStatus,
    trustOf: trustReader(readStatus),
    createContact: contactCreator(client, apiKey),
  };
  server.setRequestHandler('tools/list', () => LISTS[tools]);
  server.setRequestHandler('resources/list', () => ({ resources: [VIEWS_RESOURCE] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    if (uri !== VIEWS_URI) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No resource ${uri}`);
    const { columns, rows } = await client.call('/api/sql', { statement: VIEWS_STATEMENT });
    const lines = [columns.map(({ name }) => name), ...rows].map((cells) =>
      cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(','),
    );
    return { contents: [{ uri, mimeType: VIEWS_RESOURCE.mimeType, text: lines.join('\n') }] };
  });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = TOOLS_BY_NAME.get(params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`);
    const args = params.arguments ?? {};
    return toResult(() => tool.run(session, args, signal), optionsOf(args));
  });
  return server;
}

/** A result of bounded size, or an error that says what to change. */
async function toResult(work: () => Promise<object>, options: ResultOptions): Promise<CallToolResult> {
  try {
    const text = resultText(await work(), options);
    if (text.length <= MAX_RESULT_CHARACTERS) return { content: [{ type: 'text', text }] };
    return failed(
      `The answer has ${text.length} characters, more than the ${MAX_RESULT_CHARACTERS} that a result may have. Ask for less: a smaller limit or page_size, fewer metrics, a shorter range, or granularity monthly.`,
    );
  } catch (error) {
    if (error instanceof ReachlineProblem) return failed(explain(error));
    if (error instanceof Problem) return failed(explain(asAnswered(error)));
    if (error instanceof ConnectionError) return failed(error.message);
    return failed(error instanceof Error ? error.message : String(error));
  }
}

const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

/** A problem of an operation in this process, with the fields that its HTTP response would have. */
const asAnswered = ({ code, message, extras }: Problem) => ({
  title: PROBLEMS[code][1],
  message,
  code,
  errors: extras.errors ?? [],
});

function explain({
  title,
  message,
  code,
  errors,
}: Pick<ReachlineProblem, 'title' | 'message' | 'code' | 'errors'>): string {
  const rules = errors.map(({ pointer, detail }) => `- ${pointer}: ${detail}`);
  return [`${title} (${code}). ${message}`, ...rules].join('\n');
}
