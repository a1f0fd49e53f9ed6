/** SQL as an API operation, for the console and assistants: the same statements, limits and rows as at the SQL endpoint. */
import type { Static, TUnsafe } from 'typebox';
import { endpointsWith } from '../http/endpoint.js';
import { Problem } from '../http/problems.js';
import {
  arrayOf,
  integer,
  looseObject,
  optional,
  organizationId,
  strictObject,
  Type,
  withDefault,
} from '../shared/schema.js';
import { NAME_PATTERN } from '../stores/clickhouse/bind.js';
import { ANALYST_SECONDS } from '../stores/clickhouse/settings.js';
import { CODE, SqlError } from './errors.js';
import { SQL_SCOPES, type SqlReader } from './sql-reader.js';

export interface SqlServices {
  /** Runs SQL; absent if analysts use a ClickHouse server directly. */
  sql?: SqlReader;
}

const MAX_ROWS = 10_000;

const QuerySqlRequest = strictObject({
  organization_id: optional(organizationId),
  statement: Type.String({
    description: 'One SELECT, SHOW, DESCRIBE or EXPLAIN in the dialect of ClickHouse, without FORMAT.',
    minLength: 1,
    maxLength: 100_000,
  }),
  parameters: optional(
    Type.Unsafe({
      type: 'object',
      description:
        'Values of `{name:Type}` in the statement, as text. A name has up to 64 letters, digits and underscores. `organization` is given: that of the key.',
      propertyNames: { pattern: NAME_PATTERN },
      additionalProperties: { type: 'string', maxLength: 1024 },
      maxProperties: 50,
    }) as TUnsafe<Record<string, string>>,
  ),
  limit: withDefault(
    optional(integer('Maximum rows of the answer.', { minimum: 1, maximum: MAX_ROWS })),
    1000,
  ),
});

const QuerySqlResponse = looseObject({
  columns: arrayOf(
    'Columns of the result, in order.',
    looseObject({
      name: Type.String({ description: 'Name of the column.' }),
      type: Type.String({ description: 'Type of ClickHouse.' }),
    }),
  ),
  rows: arrayOf(
    'Rows, each with a value for every column. Decimals, and integers beyond 2^53, are text, so that no digit is lost.',
    Type.Array(Type.Unknown({ description: 'A value of JSON.' }), { description: 'Values of a row.' }),
  ),
  truncated: Type.Boolean({ description: 'Whether there are more rows than `limit`.' }),
});
export type QuerySqlResponse = Static<typeof QuerySqlResponse>;

const querySql = endpointsWith<SqlServices>()({
  path: '/api/sql',
  name: 'QuerySql',
  // Not `sql`, because the page /docs/sql is the guide.
  operationId: 'querySql',
  summary: 'Run a SQL statement',
  description: `Reads contacts, audiences, visits and advertising of the organization together; see [SQL](/docs/sql) for the views and example questions. Statements run one at a time, for at most ${ANALYST_SECONDS} seconds.`,
  tag: 'SQL',
  scope: SQL_SCOPES,
  slots: () => 2,
  request: QuerySqlRequest,
  response: QuerySqlResponse,
  example: {
    statement:
      'SELECT country, count() AS contacts FROM contacts GROUP BY country ORDER BY contacts DESC, country',
    limit: 3,
  },
  problems: ['invalid_sql', 'sql_unavailable'],
  async handle({ body, organizationId, services, signal }) {
    const { statement, parameters, limit } = body;
    if (!services.sql) {
      throw new Problem(
        'sql_unavailable',
        'This installation keeps its figures on a ClickHouse server: connect to that one.',
      );
    }
    const params = { ...parameters, organization: organizationId };
    try {
      return await services.sql.query({ organizationId, statement, params, limit }, signal);
    } catch (error) {
      throw error instanceof SqlError ? toProblem(error) : error;
    }
  },
});

function toProblem({ code, message }: SqlError): Problem {
  if (code === CODE.TOO_MANY_SIMULTANEOUS_QUERIES)
    return new Problem('overloaded', 'Too many statements wait to run.', {}, { 'Retry-After': '5' });
  if (code === CODE.CANNOT_SCHEDULE_TASK)
    return new Problem('overloaded', `${message}.`, {}, { 'Retry-After': '60' });
  if (code === CODE.SOCKET_TIMEOUT || code === CODE.TIMEOUT_EXCEEDED) {
    return new Problem('timeout', 'The statement took too long.');
  }
  return new Problem('invalid_sql', message.replace(/^Code: \d+\. DB::Exception: /, ''));
}

export const sqlEndpoints = [querySql];
