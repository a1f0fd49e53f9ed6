/** There is no SQLite in this installation, but the settings ask for the stores of the data folder. */
export class SqliteMissingError extends Error {
  override readonly name = 'SqliteMissingError';
  override readonly message =
    'This installation is without the embedded stores (the package @photostructure/sqlite): set ELASTICSEARCH_URL and CLICKHOUSE_URL, or install it.';
}

/** The store, loaded only where it is used, since an installation may lack its package. */
export function loadSqlite(): Promise<typeof import('./store.js')> {
  return import('./store.js').catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ERR_MODULE_NOT_FOUND' ? new SqliteMissingError(undefined, { cause }) : cause;
  });
}
