/** Checks responses against their schemas, made strict. */
import type { TSchema } from 'typebox';
import { apiDocument, endpoints, operations } from '../../services/gateway/api.js';
import { PROBLEMS } from '../../services/http/problems.js';
import { compileValidator, type Validator } from '../../services/shared/validation.js';

type Json = Record<string, unknown>;

/** The document as `/openapi.json` serves it. */
export const openApi = JSON.parse(JSON.stringify(apiDocument(operations, '0.0.0'))) as Json;

/** The value at a `#/…` pointer of the document. */
export function resolvePointer(pointer: string): unknown {
  const names = pointer.replace(/^#\//, '').split('/');
  return names.reduce<unknown>(
    (value, name) => (value as Json | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')],
    openApi,
  );
}

/** The schema in which no object may have a field that its schema does not name. */
export function strict(schema: unknown): TSchema {
  return copy(schema) as TSchema;
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (typeof value !== 'object' || value === null) return value;
  const { $id: _, ...rest } = value as Json;
  const copied = Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, copy(inner)]));
  const isObject = copied.type === 'object' && typeof copied.properties === 'object';
  return isObject ? { ...copied, additionalProperties: false } : copied;
}

/** What is wrong with a successful response of the operation, by path; nothing if it is as documented. */
export const responseCheck: ReadonlyMap<string, Validator> = new Map(
  endpoints.map(({ path, response }) => [path, compileValidator(strict(response))]),
);

export const checkIntakeResponse = compileValidator(
  strict(inlined({ $ref: '#/components/schemas/IngestResponse' })),
);

/** Additional members of a problem, by code. */
export const PROBLEM_EXTRAS: { [code: string]: string[] } = {
  insufficient_credits: ['required_credits', 'credit_balance'],
  organization_mismatch: ['errors'],
  insufficient_scope: ['required_scope'],
  contact_not_found: ['organization_id', 'contact_id'],
  audience_not_found: ['organization_id', 'audience_id'],
  company_not_found: ['organization_id'],
  key_not_found: ['organization_id', 'key_id'],
  ambiguous_company: ['organization_id', 'candidates'],
  ambiguous_domain: ['organization_id', 'candidates'],
  audience_exists: ['organization_id', 'audience_id'],
  filter_exists: ['organization_id'],
  changed_meanwhile: ['organization_id', 'contact_id'],
  contact_exists: ['organization_id', 'contact_id', 'contact_ids'],
  validation_failed: ['errors'],
  page_window_exceeded: ['errors'],
  records_rejected: ['errors', 'accepted', 'rejected'],
  too_many_companies: ['errors'],
  too_many_outcomes: ['errors'],
  too_many_points: ['errors'],
  missing_rates: ['errors', 'days'],
};
const problemSchema = resolvePointer('#/components/schemas/Problem') as Json & { required: string[] };
const checkProblemFields = compileValidator(inlined(problemSchema) as TSchema);

/** A schema of the document without references, and without keywords that only this document uses. */
function inlined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inlined);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as Json;
  if (typeof $ref === 'string') return inlined(resolvePointer($ref));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => !name.startsWith('x-') && !(name === 'format' && typeof inner === 'string'))
      .map(([name, inner]) => [name, inlined(inner)]),
  );
}

/**
 * Ways in which an error body breaks the contract: it must have every member of contract 1.2 and exactly the additional members of its
 * code.
 */
export function problemFaults(status: number, body: Json): string[] {
  const faults = checkProblemFields(body).map(({ pointer, detail }) => `${pointer} ${detail}`);
  const code = body.code as string;
  const [expected, title] = PROBLEMS[code as keyof typeof PROBLEMS] ?? [];
  if (expected !== status || body.status !== status) faults.push(`${code} came with status ${status}`);
  if (body.title !== title) faults.push(`the title of ${code} is not that of the table`);
  if (body.type !== `urn:reachline:problem:${code}`) faults.push(`type is ${body.type}`);
  // An ingest that ends early reports the outcome of the records before.
  const outcome = 'accepted' in body ? ['accepted', 'rejected', 'errors'] : [];
  // Only a file that may be read in another way has `proposed`.
  if ('proposed' in body) outcome.push('proposed');
  // An audience may have changed, too.
  const isAudience = code === 'changed_meanwhile' && 'audience_id' in body;
  const own = isAudience ? PROBLEM_EXTRAS.audience_exists : PROBLEM_EXTRAS[code];
  const extras = new Set([...problemSchema.required, ...(own ?? []), ...outcome]);
  const wanted = [...extras].sort().join();
  const given = Object.keys(body).sort().join();
  if (given !== wanted) faults.push(`${code} has the members ${given} instead of ${wanted}`);
  return faults;
}

const STORE_WORDS =
  /\bsqlite|\bfts5\b|\bchdb\b|syntax error|clickhouse|DB::|Exception|node_modules|no such (?:table|column)|constraint failed|\bat (?:\/|file:|node:|async )|\.[jt]s:\d+|ECONN|ENOENT/i;

/** The words of a store, or of the program itself, that a text reveals; null if none. */
export function storeWords(text: string): string | null {
  const found = STORE_WORDS.exec(text);
  return found && text.slice(Math.max(0, found.index - 60), found.index + 60);
}
