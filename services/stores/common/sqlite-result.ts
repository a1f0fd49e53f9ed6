/** Result codes of SQLite, apart from the driver, which an installation without embedded stores lacks. */

/** Result code of a full disk. */
export const SQLITE_FULL = 13;

/** SQLite's primary result code; null for other errors. */
export function resultCodeOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('sqliteCode' in error) || typeof error.sqliteCode !== 'number')
    return null;
  return error.sqliteCode & 0xff;
}
