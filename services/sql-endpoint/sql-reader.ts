import type { Scope } from '../http/scopes.js';
import { StoreUnavailableError } from '../shared/store-errors.js';
import type { EngineResult } from '../stores/clickhouse/engine.js';
import type { Body } from './body.js';
import { CODE, SqlError, toException } from './errors.js';
import type { StatementRequest } from './request.js';
import type { Statement } from './statement.js';

/** What the views together hold. */
export const SQL_SCOPES: readonly Scope[] = [
  'advertising:read',
  'audiences:read',
  'contacts:read',
  'visits:read',
];

export interface SqlQuery {
  organizationId: string;
  statement: string;
  /** Values of `{name:Type}`. */
  params: Readonly<Record<string, string>>;
  /** Maximum rows. */
  limit: number;
}

export interface SqlRows {
  columns: { name: string; type: string }[];
  rows: unknown[][];
  /** Whether there are more rows than the limit. */
  truncated: boolean;
}

export interface SqlReader {
  /** Throws a `SqlError` for what the endpoint rejects, and for errors of the statement. */
  query(query: SqlQuery, signal: AbortSignal): Promise<SqlRows>;
}

/** Runs the statement of a request and passes its result to `send`. */
export type Execute = (
  request: StatementRequest,
  body: Body,
  send: (statement: Statement, result: EngineResult) => Promise<void>,
  signal: AbortSignal,
) => Promise<void>;

const FORMAT = 'JSONCompact';
const MAX_RESULT_BYTES = 8 * 1024 * 1024;
const NO_BODY: Body = { data: Buffer.alloc(0), encoding: undefined };

export async function readRows(
  execute: Execute,
  { organizationId, statement, params, limit }: SqlQuery,
  signal: AbortSignal,
): Promise<SqlRows> {
  const request: StatementRequest = {
    query: statement,
    database: '',
    format: FORMAT,
    settings: {
      limit: String(limit + 1),
      max_result_bytes: String(MAX_RESULT_BYTES),
      output_format_json_quote_64bit_integers: '0',
      output_format_json_quote_decimals: '1',
    },
    params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, escaped(value)])),
    organizationId,
  };
  let answer: { meta: SqlRows['columns']; data: unknown[][] } = { meta: [], data: [] };
  const read = async ({ format }: Statement, result: EngineResult) => {
    if (format !== FORMAT) throw new SqlError(CODE.BAD_ARGUMENTS, 'Leave FORMAT out: the answer is JSON');
    const bytes = result.bytes();
    // The engine's own limit counts a constant once, however many rows repeat it.
    if (bytes.length > MAX_RESULT_BYTES)
      throw new SqlError(CODE.TOO_MANY_BYTES, `The result exceeds ${MAX_RESULT_BYTES} bytes`);
    answer = parseExact(Buffer.from(bytes).toString('utf8'));
  };
  try {
    await execute(request, NO_BODY, read, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StoreUnavailableError) throw error;
    const exception = toException(error);
    throw exception.code === CODE.UNKNOWN_EXCEPTION ? error : exception;
  }
  const { meta, data } = answer;
  return { columns: meta, rows: data.slice(0, limit), truncated: data.length > limit };
}

const LONG_INTEGER = /(?<![\d.])-?\d{16,}(?![\d.eE])/g;

/** JSON whose integers become text where a number cannot hold them. */
function parseExact<T>(json: string): T {
  let exact = '';
  let copied = 0;
  let at = 0;
  for (const { 0: digits, index } of json.matchAll(LONG_INTEGER)) {
    while (at < index) at = json[at] === '"' ? endOfString(json, at) : at + 1;
    const isInText = at > index;
    if (isInText || Number.isSafeInteger(Number(digits))) continue;
    exact += `${json.slice(copied, index)}"${digits}"`;
    copied = index + digits.length;
  }
  return JSON.parse(exact + json.slice(copied)) as T;
}

/** Without a regular expression, whose stack would overflow with a text of some million characters. */
function endOfString(json: string, quote: number): number {
  let at = quote + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** As TabSeparated writes text. */
const escaped = (value: string) =>
  value.replaceAll(/[\\\t\n]/g, (letter) => ({ '\t': '\\t', '\n': '\\n' })[letter] ?? '\\\\');
