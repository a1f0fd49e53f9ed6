/**
 * The tools for operations of the gateway, from their declarations: all read-only operations, and operations that change contacts and
 * audiences.
 */
import { type ApiEndpoint, endpoints } from '../gateway/api.js';
import { SQL_HELP } from './sql-views.js';
import { inputFields, type JsonSchema } from './tool-schema.js';

type Json = Record<string, unknown>;

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
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

/** Tools that are listed unless a connection asks for all tools. The other tools can be called too. */
export const CORE: ReadonlySet<string> = new Set([
  'describe',
  'contacts_search',
  'audiences_search',
  'audiences_contacts_search',
  'website_visits_search',
  'advertising_network_a_campaigns',
  'advertising_network_a_companies',
  'sql',
  'audiences_create',
  'audiences_contacts_add_many',
]);

/** Metrics of a call that names none. Tools for companies use those of them that companies have. */
const USUAL_METRICS = 'ad_spend impressions clicks engagements leads conversions ctr cpc cost_per_lead'.split(
  ' ',
);

/** Added to lists with totals, so that no model adds up items. */
const TOTALS =
  'Never add up the items: `totals` has the sums over everything that matches, one per currency. For totals alone ask with `page_size` 1; `compare_to` adds those of an earlier period. Without `metrics`, the usual ones are answered.';
/** Added to operations with series. */
const SERIES = 'Series are answered if `granularity` is given.';

/** Descriptions for a model, where those of the API reference say too little or too much. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  '/api/sql': `Answers a question that no other tool answers, over contacts, audiences, visits and advertising together, in ClickHouse's SQL. ${SQL_HELP}`,
  '/api/contacts/search':
    'Finds people by words in `query`, by filters, or both. Text filters match words or their beginnings; case and accents do not matter. `total_count` says how many match; `facets` counts them by a field.',
};
const FIELD_DESCRIPTIONS: Readonly<Record<string, string>> = {
  query:
    'Words to find anywhere: names, titles, companies, places. Typos, equivalents and beginnings of words match. "a phrase"; -excluded; field:value; a or b.',
  filter: 'Filters of contacts_search, such as `{"query": "marketing", "country": "Germany"}`.',
};

export const readingTools: readonly Tool[] = endpoints
  .filter(({ scope }) => scope.every((each) => each.endsWith(':read')))
  .map((endpoint) => {
    const tool = toolOf(endpoint);
    const { properties } = tool.inputSchema;
    const added = ['compare_to' in properties && TOTALS, 'granularity' in properties && SERIES];
    return { ...tool, description: [tool.description, ...added].filter(Boolean).join(' ') };
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
  const metrics = metricsOf(inputSchema.properties.metrics);
  return {
    name: endpoint.path.slice('/api/'.length).replaceAll(/[/-]/g, '_'),
    title: endpoint.summary,
    description:
      DESCRIPTIONS[endpoint.path] ?? [endpoint.summary, endpoint.description].filter(Boolean).join('. '),
    inputSchema,
    endpoint,
    defaults: { ...Object.fromEntries(defaults), ...(metrics && { metrics }) },
  };
}

function metricsOf(field: Json | undefined): string[] | null {
  const { enum: known } = (field?.items ?? {}) as { enum?: string[] };
  return known ? USUAL_METRICS.filter((name) => known.includes(name)) : null;
}

/** Schema of the body without the organization, which the key determines. */
function inputSchemaOf({ request, nullClears }: ApiEndpoint): JsonSchema {
  const { properties, required } = inputFields(request, nullClears);
  const { organization_id: _, ...fields } = properties;
  for (const name of Object.keys(fields)) {
    if (name in OVERRIDES) fields[name] = { ...fields[name], ...OVERRIDES[name] };
    if (name in FIELD_DESCRIPTIONS) fields[name] = { ...fields[name], description: FIELD_DESCRIPTIONS[name] };
  }
  return {
    type: 'object',
    properties: fields,
    required: (required ?? []).filter((name) => name !== 'organization_id'),
    additionalProperties: false,
  };
}
