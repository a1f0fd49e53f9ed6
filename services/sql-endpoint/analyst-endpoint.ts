import type { Engine } from '../stores/clickhouse/engine.js';
import { readOnly } from './read-only.js';
import { type SqlEndpoint, startSqlEndpoint } from './server.js';

/** The gateway's own statements run on threads of the same small number. */
const CONCURRENCY = 1;
const BODY_LIMIT = 1024 * 1024;

/** Lets analysts read the embedded engine, all organizations of it. */
export function startAnalystEndpoint(
  engine: Engine,
  { port, password }: { port: number; password: string },
): Promise<SqlEndpoint> {
  return startSqlEndpoint({
    engine,
    port,
    password,
    policy: readOnly,
    concurrency: CONCURRENCY,
    bodyLimit: BODY_LIMIT,
  });
}
