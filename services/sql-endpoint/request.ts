import type { IncomingMessage } from 'node:http';
import { NAME_PATTERN } from '../stores/clickhouse/bind.js';
import { CODE, SqlError } from './errors.js';

/** A statement to run, and its caller. */
export interface StatementRequest {
  /** The statement in the URL; the body continues it. */
  query: string;
  database: string;
  /** Output format if the statement names no format. */
  format: string;
  settings: Record<string, string>;
  /** Values of the parameters `{name:Type}`, in the escaped form of TabSeparated. */
  params: Record<string, string>;
  /** Organization that the statement reads. */
  organizationId: string;
}

/** A request, assembled from the URL, headers and form fields that the protocol allows. */
export interface SqlRequest extends StatementRequest {
  queryId: string | undefined;
  user: string;
  password: string | undefined;
  /** Protocol version of the Native format; 0 for the form without a version. */
  protocolVersion: number;
  /** Whether the response is in ClickHouse's own compressed blocks, with or without HTTP compression. */
  compressBlocks: boolean;
  compressResponse: boolean;
  acceptEncoding: string;
  sendProgress: boolean;
}

/**
 * Parameters of the protocol, which are not settings of the engine: this module reads them, or they are meaningless without sessions and
 * streaming.
 */
const PROTOCOL_NAMES = new Set([
  'query',
  'database',
  'default_format',
  'query_id',
  'user',
  'password',
  'quota_key',
  'role',
  'session_id',
  'session_timeout',
  'session_check',
  'close_session',
  'stacktrace',
  'buffer_size',
  'wait_end_of_query',
  'client_protocol_version',
  'enable_http_compression',
  'http_zlib_compression_level',
  'http_response_buffer_size',
  'http_write_exception_in_output_format',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'cancel_http_readonly_queries_on_client_close',
  'compress',
  'decompress',
]);

/** The query id, which the response repeats in a header. */
function queryIdOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[\x20-\x7e]{1,128}$/.test(text)) return text || undefined;
  throw new SqlError(CODE.BAD_ARGUMENTS, 'A query_id has at most 128 printable ASCII characters');
}

/** Reads the URL and the headers, before authentication. Throws a `SqlError` for unsupported parameters. */
export function readRequest(request: IncomingMessage, url: URL): Omit<SqlRequest, 'organizationId'> {
  const { headers } = request;
  const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
  const given = url.searchParams;
  const settings: [string, string][] = [];
  const params: [string, string][] = [];
  for (const [name, value] of given) {
    if (name.startsWith(PARAMETER)) params.push([named(name.slice(PARAMETER.length)), value]);
    else if (!PROTOCOL_NAMES.has(name)) settings.push([named(name), value]);
  }
  if (isOn(given.get('decompress'))) {
    throw new SqlError(CODE.NOT_IMPLEMENTED, 'decompress=1 is not supported; use HTTP compression');
  }
  return {
    query: given.get('query') ?? '',
    database: given.get('database') || header('x-clickhouse-database') || '',
    format: given.get('default_format') || header('x-clickhouse-format') || 'TabSeparated',
    queryId: queryIdOf(given.get('query_id') || header('x-clickhouse-query-id')),
    settings: byName(settings),
    params: byName(params),
    ...credentials(given, header),
    protocolVersion: Number(given.get('client_protocol_version')) || 0,
    compressBlocks: isOn(given.get('compress')),
    compressResponse: isOn(given.get('enable_http_compression')),
    acceptEncoding: header('accept-encoding') ?? '',
    sendProgress: isOn(given.get('send_progress_in_http_headers')),
  };
}

const isOn = (value: string | null) => value === '1' || value === 'true';

const PARAMETER = 'param_';
const NAME = new RegExp(NAME_PATTERN);
/** Maximum settings and parameters of a request. Drivers send less than twenty. */
const MAX_NAMES = 100;
/** Maximum characters of a name that an error repeats. */
const MAX_SHOWN = 64;

function named(name: string): string {
  if (!NAME.test(name)) {
    throw new SqlError(CODE.UNKNOWN_SETTING, `Unknown setting ${JSON.stringify(name.slice(0, MAX_SHOWN))}`);
  }
  return name;
}

/** Values by name. If a name occurs twice, the later value wins. */
function byName(entries: [name: string, value: string][]): Record<string, string> {
  if (entries.length > MAX_NAMES) {
    throw new SqlError(CODE.BAD_ARGUMENTS, `A request has at most ${MAX_NAMES} settings and parameters each`);
  }
  return Object.fromEntries(entries);
}

function credentials(
  given: URLSearchParams,
  header: (name: string) => string | undefined,
): { user: string; password: string | undefined } {
  const authorization = header('authorization');
  if (authorization !== undefined) {
    const [scheme = '', encoded = ''] = authorization.split(' ');
    if (scheme.toLowerCase() !== 'basic') {
      throw new SqlError(CODE.AUTHENTICATION_FAILED, `${scheme} authentication is not supported`);
    }
    const text = Buffer.from(encoded, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    if (colon < 0) {
      throw new SqlError(CODE.AUTHENTICATION_FAILED, 'Basic credentials need a colon after the user');
    }
    return { user: text.slice(0, colon), password: text.slice(colon + 1) };
  }
  return {
    user: header('x-clickhouse-user') ?? given.get('user') ?? 'default',
    password: header('x-clickhouse-key') ?? given.get('password') ?? undefined,
  };
}

/** Adds the fields of a form. Clients send parameters in a form if the parameters are too long for a URL. */
export async function readForm(asked: SqlRequest, contentType: string, body: Buffer): Promise<void> {
  const form = await new Response(new Uint8Array(body), { headers: { 'Content-Type': contentType } })
    .formData()
    .catch(() => {
      throw new SqlError(CODE.BAD_ARGUMENTS, 'The form cannot be read');
    });
  const params = Object.entries(asked.params);
  for (const [name, value] of form) {
    if (typeof value === 'string' && name === 'query') asked.query += value;
    else if (typeof value === 'string' && name.startsWith(PARAMETER)) {
      params.push([named(name.slice(PARAMETER.length)), value]);
    } else throw new SqlError(CODE.NOT_IMPLEMENTED, 'External tables are not supported');
  }
  asked.params = byName(params);
}
