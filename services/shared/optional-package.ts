/** An optional package is needed but not installed. The message says what to do. */
export class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError';
}

/**
 * Handler for `import(…).catch` of a module that needs an optional package. Throws a `MissingPackageError` if the package is not installed.
 */
export function explainMissing(sentence: string): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    throw cause.code === 'ERR_MODULE_NOT_FOUND' ? new MissingPackageError(sentence, { cause }) : cause;
  };
}

/** Explains that the packages of the embedded stores are not installed. */
export const withoutEmbeddedStores = explainMissing(
  'This installation is without the embedded stores: set ELASTICSEARCH_URL and CLICKHOUSE_URL, or install them (npm install chdb @photostructure/sqlite).',
);
