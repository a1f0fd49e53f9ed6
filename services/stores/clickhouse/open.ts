import { withoutEmbeddedStores } from '../../shared/optional-package.js';
import type { ClickHouse, ClickHouseOptions } from './client.js';

/** Throws a `MissingPackageError` if the embedded engine is not installed. Does not load the engine. */
export function requireEngine(): void {
  try {
    import.meta.resolve('chdb');
  } catch (error) {
    withoutEmbeddedStores(error as NodeJS.ErrnoException);
  }
}

/**
 * Opens the embedded engine, or connections to servers, which may be down. Throws `FolderInUseError` if another process uses the folder of
 * the engine.
 */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  if ('urls' in options) return (await import('./http.js')).openHttp(options);
  requireEngine();
  const { openEmbedded } = await import('./embedded.js').catch(withoutEmbeddedStores);
  return openEmbedded(options);
}
