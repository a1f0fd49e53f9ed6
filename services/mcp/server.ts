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
import { CreateContactResponse } from '../contacts/schema.js';
import type { ApiEndpoint } from '../gateway/api.js';
import { PROBLEMS, Problem } from '../http/problems.js';
import { StatusResponse } from '../status/schema.js';
import { contactCreator, createContactTool } from './create-contact.js';
import { metricDescriptions } from './metrics.js';
import { type JsonSchema, outputSchema, withoutNulls } from './output-schema.js';
import { readingTools, type Tool, writingTools } from './tools.js';
import { trustReader } from './trust.js';

/** Maximum characters of a result, about 15 000 tokens. */
const MAX_RESULT_CHARACTERS = 60_000;

const INSTRUCTIONS =
  'Reachline holds contacts, audiences, website visits and advertising figures of one organization. Call describe first: it names the metrics with their formulas, how fresh each stream is, and from which day on advertising figures are provisional. Every result carries `trust`: repeat its warnings, and say when figures are provisional or old. What is not in a result is not known, and a field that is left out is null. Lists of advertising have `totals`: never add up rows.';

export interface McpServerOptions {
  version: string;
  /** The key with which `client` sends requests. */
  apiKey: string;
}

const CREATE_CONTACT = {
  ...createContactTool,
  outputSchema: outputSchema(
    {
      created: { type: 'boolean' },
      would_create: CreateContactResponse,
      confirmation: { type: 'string' },
      next_step: { type: 'string' },
      answer: CreateContactResponse,
    },
    ['created'],
  ),
};
const DESCRIBE = {
  name: 'describe',
  title: 'Describe what there is',
  description:
    'The organization, every advertising metric with its unit and formula, how fresh each stream is, and from which day on figures are provisional.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false } satisfies JsonSchema,
  outputSchema: outputSchema(
    { status: StatusResponse, metrics: { type: 'array', items: { type: 'object' } } },
    ['status', 'metrics'],
  ),
};

/** Parts of the connection that tools use. */
interface Session {
  client: Pick<Client, 'call'>;
  readStatus(): Promise<StatusResponse>;
  trustOf: ReturnType<typeof trustReader>;
  createContact: ReturnType<typeof contactCreator>;
}

interface ServedTool {
  listed: Pick<Tool, 'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema'> & {
    annotations: ToolAnnotations;
  };
  run(session: Session, args: Record<string, unknown>, signal: AbortSignal): Promise<object>;
}

function served(
  {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
  }: ServedTool['listed'] | Omit<Tool, 'endpoint' | 'defaults'>,
  annotations: ToolAnnotations,
  run: ServedTool['run'],
): ServedTool {
  const listed = { name, title, description, inputSchema, outputSchema };
  return { listed: { ...listed, annotations: { openWorldHint: false, ...annotations } }, run };
}

const call = ({ client }: Session, { path }: ApiEndpoint, args: object, signal: AbortSignal) =>
  client.call(path as OperationPath, args as never, { signal });

/** Every key sees the same tools, so they are described once per process; the server of each message only refers to them. */
const TOOLS: readonly ServedTool[] = [
  ...readingTools.map((tool) =>
    served(tool, { readOnlyHint: true }, async (session, args, signal) => {
      const result = await call(session, tool.endpoint, { ...tool.defaults, ...args }, signal);
      return { trust: await session.trustOf(tool.endpoint.tag, result), result };
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
  served(CREATE_CONTACT, { readOnlyHint: false, destructiveHint: false }, ({ createContact }, args) =>
    createContact(args),
  ),
];
const TOOLS_BY_NAME = new Map(TOOLS.map((tool) => [tool.listed.name, tool]));
/** The schemas are JSON, which their type does not say. */
const LISTED = { tools: TOOLS.map(({ listed }) => listed) } as unknown as ListToolsResult;

/** The gateway checks arguments, because its messages are better. */
export function createMcpServer(client: Pick<Client, 'call'>, { version, apiKey }: McpServerOptions): Server {
  const server = new Server(
    { name: 'reachline', version },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: true } } },
  );
  const readStatus = (): Promise<StatusResponse> => client.call('/api/status', {});
  const session: Session = {
    client,
    readStatus,
    trustOf: trustReader(readStatus),
    createContact: contactCreator(client, apiKey),
  };
  server.setRequestHandler('tools/list', () => LISTED);
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = TOOLS_BY_NAME.get(params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`);
    const result = await toResult(() => tool.run(session, params.arguments ?? {}, signal));
    return server.projectCallToolResult(result, tool.listed.outputSchema);
  });
  return server;
}

/** A result of bounded size, or an error that says what to change. */
async function toResult(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    const text = withoutNulls(await work());
    if (text.length <= MAX_RESULT_CHARACTERS) {
      return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) };
    }
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
