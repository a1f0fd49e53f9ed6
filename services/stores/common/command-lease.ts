/** A lease for a command that only one process at a time may run, such as a replay of dead letters. */
export interface CommandLease {
  /** Throws once the lease is lost, for example after this process was suspended. */
  throwIfLost(): void;
  release(): Promise<void>;
}

/** Another process holds the lease. */
export interface CommandLeaseHolder {
  /** Name of the holder, such as `process 12 on gateway-1, since 2026-01-01T00:00:00.000Z`. */
  heldBy: string;
}
