/** Settings that come with a request or in the clause of a statement. */
import { blankedTexts } from '../shared/sql.js';
import { ANALYST_LIMITS, ANALYST_SETTINGS } from '../stores/clickhouse/settings.js';
import { CODE, SqlError } from './errors.js';

type Settings = Record<string, string>;

const FIXED_SETTINGS: Settings = Object.fromEntries(
  Object.entries(ANALYST_SETTINGS).map(([name, value]) => [name, String(value)]),
);
/** `output_format_schema` names a file to write. */
const FREE_SETTINGS =
  /^(?!output_format_schema$)(output_format_\w+|describe_\w+|format_csv_delimiter|date_time_(in|out)put_format|extremes|final|join_use_nulls|limit|offset|log_comment|session_timezone)$/;
/** Drivers always send them. They change no answer of one process that only reads, and are not passed on. */
const IGNORED_SETTINGS =
  /^(async_insert|wait_for_async_insert|insert_deduplicate|mutations_sync|select_sequential_consistency|load_balancing|allow_experimental_analyzer|enable_analyzer|network_compression_method|network_zstd_compression_level)$/;

/** Settings of what the endpoint runs to check a statement: no more rights than the statement gets, and the whole output. */
export const checkSettings = (): Settings => allowedSettings({});

/** Lower limits and output settings pass; any other setting throws. */
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

/** Drivers send limits with every request, where a higher one counts as ours. A statement that names one means it. */
function raisesLimit(name: string, value: string): boolean {
  const limit = Object.hasOwn(ANALYST_LIMITS, name) ? ANALYST_LIMITS[name] : undefined;
  return limit !== undefined && !(Number(value) > 0 && Number(value) <= limit);
}

/** Whether a fixed setting stays as strict as the request wants it. */
const isKept = (name: string, value: string) =>
  (Object.hasOwn(FIXED_SETTINGS, name) && FIXED_SETTINGS[name] === value) ||
  (name === 'readonly' && value === '2') ||
  isCut(name, value);

const isCut = (name: string, value: string) => name === 'result_overflow_mode' && value === 'break';

/** Truncates a result at the client's own row limit. At the endpoint's limit it is an error, so that no truncated result passes for a whole one. */
function overflowMode({ result_overflow_mode: mode = '', max_result_rows: rows = '' }: Settings): Settings {
  const isOwnLimit = Number(rows) > 0 && Number(rows) <= (ANALYST_LIMITS.max_result_rows ?? 0);
  return isCut('result_overflow_mode', mode) && isOwnLimit ? { result_overflow_mode: mode } : {};
}

const CLAUSE = ' SETTINGS ';
const CHANGE = /(?<name>\w+) = (?:'(?<text>[^'\\]*)'|(?<value>-?\d+(?:\.\d+)?|true|false))(?:, |$)/y;

/** Takes the clause from the end of a canonical statement; one anywhere else stays. Throws where it would raise a limit. */
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
