import { join } from 'node:path';
import { packageRoot } from '../../../shared/fs.js';
import { readSqlFile } from '../../../shared/sql.js';
import { StoreUnavailableError } from '../../../shared/store-errors.js';
import type { HttpOptions } from '../client.js';
import { openServers } from '../http.js';
import { render } from './render.js';

const FILE = join(packageRoot, 'mappings/clickhouse/access.sql');
/** Error codes of rejected grants: the user may not grant, or users are stored where SQL cannot change them. */
const REJECTED_CODES = new Set(['495', '497', '514']);

/** Creates the role of analysts with its limits, on each server. Returns false if a server does not permit this user to create roles. */
export async function grantAccess(options: HttpOptions): Promise<boolean> {
  const servers = openServers(options);
  try {
    for (const server of servers) {
      for (const statement of render(readSqlFile(FILE), server.layout))
        await server.command('grant_access', statement);
    }
    return true;
  } catch (error) {
    if (
      error instanceof StoreUnavailableError &&
      REJECTED_CODES.has((error.cause as { code?: string }).code ?? '')
    )
      return false;
    throw error;
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}
