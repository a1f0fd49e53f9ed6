/** Checks settings from a request or from a clause of the statement. */
import { blankedTexts } from '../shared/sql.js';
import { ANALYST_LIMITS, ANALYST_SETTINGS } from '../stores/clickhouse/settings.js';
import { CODE, SqlError } from './errors.js';

type Settings = Record<string, string>;

const FIXED_SETTINGS: Settings = Object.fromEntries(
  Object.entries(ANALYST_SETTINGS).map(([name, value]) => [name, String(value)]),
);
/** Settings of the output format, which clients may set freely, except `output_format_schema`, which names a file to write. */
const FREE_SETTINGS =
  /^(?!output_format_schema$)(output_format_\w+|describe_\w+|format_csv_delimiter|date_time_(in|out)put_format|extremes|final|join_use_nulls|limit|offset|log_comment|session_timezone)$/;
/** Settings that drivers always send. These settings have no effect on a single read-only process, and are not passed on. */
const IGNORED_SETTINGS =
  /^(async_insert|wait_for_async_insert|insert_deduplicate|mutations_sync|select_sequential_consistency|load_balancing|allow_experimental_analyzer|enable_analyzer|network_compression_method|network_zstd_compression_level)$/;

/** Settings for checking a statement: no more rights than the statement will have, and the whole output. */
export const checkSettings = (): Settings => allowedSettings({});

/** Accepts lower limits and output settings; throws for any other setting. */
export function allowedSettings(requested: Settings): Settings {
  const settings: Settings = {};
  for (const [name, limit] of Object.entries(ANALYST_LIMITS)) {
    const value = Number(requested[name] ?? limit);
    settings[name] = String(value > 0 && value < limit ? value : limit);
  }
  for (const [name, value] of Object.entries(requested)) {
    if (Object.hasOwn(ANALYST_LIMITS, name) || IGNORED_SETTINGS.test(name) || isKept(name, value)) continue;
    if (!FREE_SETTINGS.test(name)) throw cannotModify(name);
    settings[name] = value;
  }
  return { ...settings, ...FIXED_SETTINGS, ...overflowMode(requested) };
}

const cannotModify = (name: string) =>
  new SqlError(CODE.READONLY, `Cannot modify '${name}' setting in readonly mode`);

/**
 * Whether a value exceeds the limit of the endpoint. Drivers send limits with every request, so a higher limit in a request counts as the
 * limit of the endpoint. A limit in the statement itself is deliberate.
 */
function raisesLimit(name: string, value: string): boolean {
  const limit = Object.hasOwn(ANALYST_LIMITS, name) ? ANALYST_LIMITS[name] : undefined;
  return limit !== undefined && !(Number(value) > 0 && Number(value) <= limit);
}

/** Whether a fixed setting stays at least as strict as requested. */
const isKept = (name: string, value: string) =>
  (Object.hasOwn(FIXED_SETTINGS, name) && FIXED_SETTINGS[name] === value) ||
  (name === 'readonly' && value === '2') ||
  isCut(name, value);

const isCut = (name: string, value: string) => name === 'result_overflow_mode' && value === 'break';

/**
 * Truncates a result at the client's own row limit. The limit of the endpoint causes an error instead, so that a truncated result never
 * looks complete.
 */
function overflowMode({ result_overflow_mode: mode = '', max_result_rows: rows = '' }: Settings): Settings {
  const isOwnLimit = Number(rows) > 0 && Number(rows) <= (ANALYST_LIMITS.max_result_rows ?? 0);
  return isCut('result_overflow_mode', mode) && isOwnLimit ? { result_overflow_mode: mode } : {};
}

const CLAUSE = ' SETTINGS ';
const CHANGE = /(?<name>\w+) = (?:'(?<text>[^'\\]*)'|(?<value>-?\d+(?:\.\d+)?|true|false))(?:, |$)/y;

/** Takes the SETTINGS clause from the end of a canonical statement; other clauses stay. Throws if the clause would raise a limit. */
export function takeSettings(statement: string): { statement: string; settings: Settings } {
  const at = blankedTexts(statement).lastIndexOf(CLAUSE);
  const settings: Settings = {};
  if (at < 0) return { statement, settings };
  CHANGE.lastIndex = at + CLAUSE.length;
  while (CHANGE.lastIndex < statement.length) {
    const { name, text, value = text } = CHANGE.exec(statement)?.groups ?? {};
    if (name === undefined || value === undefined) return { statement, settings: {} };
    if (raisesLimit(name, value)) throw cannotModify(name);
    settings[name] = value;
  }
  return { statement: statement.slice(0, at), settings };
}
