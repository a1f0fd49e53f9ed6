import type { ClickHouse, ClickHouseOptions } from './client.js';
import { EngineMissing } from './errors.js';
import { openHttp } from './http.js';

/** Opens the engine in this process, which throws `FolderInUse` when another has the folder, or a server, which may be down. */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  if ('url' in options) return openHttp(options);
  const { openEmbedded } = await import('./embedded.js').catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ERR_MODULE_NOT_FOUND' ? new EngineMissing(undefined, { cause }) : cause;
  });
  return openEmbedded(options);
}
