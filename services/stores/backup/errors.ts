/** A backup or a restore cannot go on. The message says what to do. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
