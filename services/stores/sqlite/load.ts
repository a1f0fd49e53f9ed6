/** The settings ask for the embedded stores, but the package is not installed. */
export class SqliteMissingError extends Error {
  override readonly name = 'SqliteMissingError';
  override readonly message =
    'This installation is without the embedded stores (the package @photostructure/sqlite): set ELASTICSEARCH_URL and CLICKHOUSE_URL, or install it.';
}

/** Loads the store only where it is used, since an installation may lack the package. Throws `SqliteMissingError`. */
export const loadSqlite = () => import('./store.js').catch(explainMissing);
export const loadSqliteAdmin = () => import('./admin-store.js').catch(explainMissing);

function explainMissing(cause: NodeJS.ErrnoException): never {
  throw cause.code === 'ERR_MODULE_NOT_FOUND' ? new SqliteMissingError(undefined, { cause }) : cause;
}
