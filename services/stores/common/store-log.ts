/** Log of a store: of its background jobs, its retention, and the socket of backups. */
export interface StoreLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}
