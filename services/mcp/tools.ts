/**
 * The tools for operations of the gateway, from their declarations: all read-only operations, and operations that change contacts and
 * audiences.
 */
import { type ApiEndpoint, endpoints } from '../gateway/api.js';
import { inputFields, type JsonSchema, outputSchema } from './output-schema.js';

type Json = Record<string, unknown>;

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  endpoint: ApiEndpoint;
  /** Sent if a call leaves these fields out. */
  defaults: Json;
}

/**
 * Page sizes of the tools. They are smaller than over HTTP, because a model pays for every word: by default, pages have 10 items and series
 * are monthly.
 */
const PAGE = { default: 10, maximum: 100 };
const OVERRIDES: Readonly<Record<string, Json>> = {
  limit: PAGE,
  page_size: PAGE,
  campaign_page_size: PAGE,
  granularity: { default: 'monthly' },
};

/** See `Trust`. */
const TRUST = {
  type: 'object',
  properties: {
    warnings: { type: 'array', items: { type: 'string' } },
    streams: { type: ['object', 'null'] },
    checked_at: { type: ['string', 'null'] },
  },
  required: ['warnings'],
};

/** Added to lists with totals, so that no model adds up items. */
const TOTALS =
  'Never add up the items: `totals` has the sums over everything that matches, one per currency. For totals alone ask with `page_size` 1 and the `metrics` wanted; `compare_to` adds those of an earlier period.';

export const readingTools: readonly Tool[] = endpoints
  .filter(({ scope }) => scope.every((each) => each.endsWith(':read')))
  .map((endpoint) => {
    const tool = toolOf(endpoint);
    const hasTotals = 'compare_to' in tool.inputSchema.properties;
    const description = hasTotals ? `${tool.description} ${TOTALS}` : tool.description;
    const answer = outputSchema({ trust: TRUST, result: endpoint.response }, ['trust', 'result']);
    return { ...tool, description, outputSchema: answer };
  });

/** Writing operations by path, and whether they can also remove something. */
const WRITING: Readonly<Record<string, { isDestructive: boolean }>> = {
  '/api/contacts/update': { isDestructive: true },
  '/api/audiences/create': { isDestructive: false },
  '/api/audiences/update': { isDestructive: true },
  '/api/audiences/contacts/add-many': { isDestructive: false },
  '/api/audiences/contacts/remove-many': { isDestructive: true },
};

export const writingTools = endpoints.flatMap((endpoint) => {
  const writing = WRITING[endpoint.path];
  return writing ? [{ ...toolOf(endpoint), ...writing }] : [];
});

/** Makes a tool such as `contacts_search` from `/api/contacts/search`. */
export function toolOf(endpoint: ApiEndpoint): Tool {
  const inputSchema = inputSchemaOf(endpoint);
  const defaults = Object.entries(inputSchema.properties).flatMap(([name, { default: value }]) =>
    name in OVERRIDES ? [[name, value] as const] : [],
  );
  return {
    name: endpoint.path.slice('/api/'.length).replaceAll(/[/-]/g, '_'),
    title: endpoint.summary,
    description: [endpoint.summary, endpoint.description].filter(Boolean).join('. '),
    inputSchema,
    outputSchema: outputSchema({ result: endpoint.response }, ['result']),
    endpoint,
    defaults: Object.fromEntries(defaults),
  };
}

/** Schema of the body without the organization, which the key determines. */
function inputSchemaOf({ request, nullClears }: ApiEndpoint): JsonSchema {
  const { properties, required } = inputFields(request, nullClears);
  const { organization_id: _, ...fields } = properties;
  for (const name of Object.keys(fields)) {
    if (name in OVERRIDES) fields[name] = { ...fields[name], ...OVERRIDES[name] };
  }
  return {
    type: 'object',
    properties: fields,
    required: (required ?? []).filter((name) => name !== 'organization_id'),
    additionalProperties: false,
  };
}
