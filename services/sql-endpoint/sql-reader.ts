import type { Scope } from '../http/scopes.js';
import { TimeSlice } from '../shared/async.js';
import { StoreUnavailableError } from '../shared/store-errors.js';
import type { EngineResult } from '../stores/clickhouse/engine.js';
import type { Body } from './body.js';
import { CODE, SqlError, toException } from './errors.js';
import type { StatementRequest } from './request.js';
import type { Statement } from './statement.js';

/** Scopes that together allow reading everything that the views contain. */
export const SQL_SCOPES: readonly Scope[] = [
  'advertising:read',
  'audiences:read',
  'contacts:read',
  'visits:read',
];

export interface SqlQuery {
  organizationId: string;
  statement: string;
  /** Values of the parameters `{name:Type}`. */
  params: Readonly<Record<string, string>>;
  /** Maximum rows of the result. */
  limit: number;
}

export interface SqlRows {
  columns: { name: string; type: string }[];
  rows: unknown[][];
  /** Whether there are more rows than the limit. */
  truncated: boolean;
}

export interface SqlReader {
  /** Runs a query. Throws a `SqlError` for a query that the endpoint rejects, and for errors of the statement. */
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
    // Limits the bytes here, because the engine's own limit counts a constant once, however many rows repeat it.
    if (bytes.length > MAX_RESULT_BYTES)
      throw new SqlError(CODE.TOO_MANY_BYTES, `The result exceeds ${MAX_RESULT_BYTES} bytes`);
    answer = await parseExact(Buffer.from(bytes).toString('utf8'));
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
/** Minimum characters of text that can contain an integer which a number cannot hold. */
const SHORTEST_INTEGER = 16;

/** Parses JSON, turning integers that a number cannot hold into text. Examines only text outside strings. Yields to the event loop. */
async function parseExact<T>(json: string): Promise<T> {
  const slice = new TimeSlice();
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const end = quote === -1 ? json.length : quote;
    if (end - at >= SHORTEST_INTEGER) {
      for (const { 0: digits, index } of json.slice(at, end).matchAll(LONG_INTEGER)) {
        if (slice.shouldYield()) await slice.yieldToEventLoop();
        if (Number.isSafeInteger(Number(digits))) continue;
        parts.push(json.slice(copied, at + index), `"${digits}"`);
        copied = at + index + digits.length;
      }
    }
    at = quote === -1 ? json.length : endOfString(json, quote);
    if (slice.shouldYield()) await slice.yieldToEventLoop();
  }
  return JSON.parse(parts.join('') + json.slice(copied)) as T;
}

/** The index after the string that begins at a quote. */
function endOfString(json: string, quote: number): number {
  for (let end = json.indexOf('"', quote + 1); ; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json[before - 1] === '\\') before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
}

/** Escapes text as the format TabSeparated does. */
const escaped = (value: string) =>
  value.replaceAll(/[\\\t\n]/g, (letter) => ({ '\t': '\\t', '\n': '\\n' })[letter] ?? '\\\\');
