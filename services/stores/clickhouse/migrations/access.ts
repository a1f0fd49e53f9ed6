import { fileURLToPath } from 'node:url';
import { StoreUnavailableError } from '../../../shared/store-errors.js';
import type { HttpOptions } from '../client.js';
import { openHttp } from '../http.js';
import { readMigrations } from './migrate.js';
import { render } from './render.js';

const FOLDER = fileURLToPath(new URL('../../../../../mappings/clickhouse/access/', import.meta.url));
/** Not granted, or users are kept where SQL cannot change them. */
const REFUSALS = new Set(['495', '497', '514']);

/** Makes the role of analysts with its limits. False when the server does not let this user do so. */
export async function grantAccess(options: HttpOptions): Promise<boolean> {
  const clickhouse = openHttp(options);
  try {
    for (const { sql } of readMigrations(FOLDER)) {
      for (const statement of render(sql, clickhouse.layout))
        await clickhouse.command('grant_access', statement);
    }
    return true;
  } catch (error) {
    if (error instanceof StoreUnavailableError && REFUSALS.has((error.cause as { code?: string }).code ?? ''))
      return false;
    throw error;
  } finally {
    await clickhouse.close();
  }
}
