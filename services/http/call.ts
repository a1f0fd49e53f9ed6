/** Operations without HTTP, for the command line: parsed, checked and limited to one organization as over HTTP. */
import type { TSchema } from 'typebox';
import type { Endpoint, ExportFormat, HandlerContext } from './endpoint.js';
import { exportText } from './export.js';
import { parseRequest } from './request.js';
import { serialize } from './serialize.js';

type Fields = Record<string, unknown>;

export interface Caller<Services> {
  services: Services;
  organizationId: string;
  /** Stands for the API key in what the operation records. */
  keyId: string;
}

type AnyEndpoint<Services> = Endpoint<TSchema, TSchema, TSchema, Services>;

function contextOf<Services>(
  endpoint: AnyEndpoint<Services>,
  { services, organizationId, keyId }: Caller<Services>,
  sent: { body: Fields; query?: Fields },
  format: ExportFormat | null,
): HandlerContext<unknown, unknown, Services> {
  const query = Object.fromEntries(
    Object.entries(sent.query ?? {}).map(([name, value]) => [name, String(value)]),
  );
  const body = { organization_id: organizationId, ...sent.body };
  return {
    ...parseRequest(endpoint, { body, query }, organizationId, format),
    params: {},
    organizationId,
    keyId,
    services,
    signal: new AbortController().signal,
    responseHeaders: {},
  };
}

/** The response of an operation. Throws a Problem. */
export async function callOperation<Services>(
  endpoint: AnyEndpoint<Services>,
  caller: Caller<Services>,
  body: Fields,
  query?: Fields,
): Promise<Fields> {
  const response = await endpoint.handle(contextOf(endpoint, caller, { body, query }, null));
  return JSON.parse(String(await serialize(response))) as Fields;
}

/** Every match of a list as text. Throws a Problem. `onTotal` learns first how many match. */
export function exportMatches<Services>(
  endpoint: AnyEndpoint<Services>,
  caller: Caller<Services>,
  body: Fields,
  format: ExportFormat,
  onTotal: (total: number) => void,
): AsyncGenerator<Buffer, undefined> {
  if (!endpoint.list) throw new Error(`${endpoint.path} is not a list`);
  return exportText(endpoint.list, contextOf(endpoint, caller, { body }, format), format, onTotal);
}
