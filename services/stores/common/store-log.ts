/** Log for background jobs of a store, for retention, and for the socket of backups. */
export interface StoreLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}
