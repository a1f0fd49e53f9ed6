/** A server of the Model Context Protocol: a client of the gateway that gives a model its operations as tools. */
import {
  type CallToolResult,
  fromJsonSchema,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  McpServer,
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

/** About 15 000 tokens. */
const MAX_RESULT_CHARACTERS = 60_000;

const INSTRUCTIONS =
  'Reachline holds contacts, audiences, website visits and advertising figures of one organization. Call describe first: it names the metrics with their formulas, how fresh each stream is, and from which day on advertising figures are provisional. Every result carries `trust`: repeat its warnings, and say when figures are provisional or old. What is not in a result is not known, and a field that is left out is null. Lists of advertising have `totals`: never add up rows.';

/** The gateway validates, with better messages. */
const ACCEPT_ALL: jsonSchemaValidator = {
  getValidator: <T>(): JsonSchemaValidator<T> => {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};
const schemaOf = (schema: JsonSchema) => fromJsonSchema<Record<string, unknown>>(schema as never, ACCEPT_ALL);
export interface McpServerOptions {
  version: string;
  /** The key that `client` calls with. */
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

export function createMcpServer(
  client: Pick<Client, 'call'>,
  { version, apiKey }: McpServerOptions,
): McpServer {
  const server = new McpServer({ name: 'reachline', version }, { instructions: INSTRUCTIONS });
  const readStatus = (): Promise<StatusResponse> => client.call('/api/status', {});
  const trustOf = trustReader(readStatus);
  const createContact = contactCreator(client, apiKey);

  function register(
    { name, title, description, inputSchema, outputSchema }: Omit<Tool, 'endpoint' | 'defaults'>,
    annotations: ToolAnnotations,
    run: (args: Record<string, unknown>, signal: AbortSignal) => Promise<object>,
  ): void {
    const schemas = { inputSchema: schemaOf(inputSchema), outputSchema: schemaOf(outputSchema) };
    server.registerTool(
      name,
      { title, description, ...schemas, annotations: { openWorldHint: false, ...annotations } },
      (args, { mcpReq: { signal } }) => toResult(() => run(args, signal)),
    );
  }
  const call = ({ path }: ApiEndpoint, args: object, signal: AbortSignal) =>
    client.call(path as OperationPath, args as never, { signal });

  for (const tool of readingTools) {
    const { endpoint, defaults } = tool;
    register(tool, { readOnlyHint: true }, async (args, signal) => {
      const result = await call(endpoint, { ...defaults, ...args }, signal);
      return { trust: await trustOf(endpoint.tag, result), result };
    });
  }
  register(DESCRIBE, { readOnlyHint: true }, async () => ({
    status: await readStatus(),
    metrics: metricDescriptions,
  }));
  for (const tool of writingTools) {
    const annotations = { readOnlyHint: false, destructiveHint: tool.isDestructive };
    register(tool, annotations, async (args, signal) => ({
      result: await call(tool.endpoint, args, signal),
    }));
  }
  register(CREATE_CONTACT, { readOnlyHint: false, destructiveHint: false }, createContact);
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
    throw error;
  }
}

const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

/** A problem of an operation of this process, with what its answer would have. */
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
