import type { ClickHouse, ClickHouseOptions } from './client.js';
import { EngineMissingError } from './errors.js';
import { openHttp } from './http.js';

/** Opens the engine in this process, which throws `FolderInUseError` when another has the folder, or a server, which may be down. */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  if ('url' in options) return openHttp(options);
  const { openEmbedded } = await import('./embedded.js').catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ERR_MODULE_NOT_FOUND' ? new EngineMissingError(undefined, { cause }) : cause;
  });
  return openEmbedded(options);
}
