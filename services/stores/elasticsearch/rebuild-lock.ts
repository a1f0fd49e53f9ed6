import type { Clock } from '../../shared/clock.js';
import type { Cluster } from './cluster.js';
import { Documents, type Found, newAttempt } from './documents.js';
import type { IndexNames } from './indices.js';
import { abandon } from './rebuild.js';

interface LockSource {
  owner: string;
  /** Milliseconds since the epoch. */
  lease_until: number;
  index: string | null;
  successor: string | null;
}

/** Another process took the lock, because this one did not renew it in time. */
export class LockLost extends Error {
  override readonly name = 'LockLost';

  constructor() {
    super('another process took over the rebuild');
  }
}

const LEASE_MS = 30_000;
/** Renewed no more often than this. */
const RENEW_MS = 3000;
const LOCK_ID = 'rebuild';

/** One rebuild at a time in all processes. Who holds it renews it; a holder that died is replaced. */
export class RebuildLock {
  readonly #locks: Documents<LockSource>;
  readonly #clock: Clock;
  #held: Found<LockSource>;
  #renewedAt: number;

  private constructor(locks: Documents<LockSource>, held: Found<LockSource>, clock: Clock) {
    this.#locks = locks;
    this.#held = held;
    this.#clock = clock;
    this.#renewedAt = clock.now();
  }

  /** Null while another process holds it. Clears up what a holder that died has left half done. */
  static async take(cluster: Cluster, names: IndexNames, clock: Clock): Promise<RebuildLock | null> {
    const locks = new Documents<LockSource>(cluster, names.alias('migrations'));
    const source: LockSource = {
      owner: newAttempt(),
      lease_until: clock.now() + LEASE_MS,
      index: null,
      successor: null,
    };
    const made = await locks.create(LOCK_ID, source, { refresh: false });
    if (made) return new RebuildLock(locks, made, clock);
    const found = await locks.get(LOCK_ID);
    if (!found || found.source.lease_until > clock.now()) return null;
    // Keeps the names until what they name is cleared up, so that a second death does not lose them.
    const taken = await locks.replace(found, { ...found.source, ...held(clock) }, { refresh: false });
    if (!taken) return null;
    const { index, successor } = taken.source;
    if (index !== null && successor !== null) await abandon(cluster, index, successor);
    return new RebuildLock(locks, taken, clock);
  }

  /** Tells what would have to be undone. */
  announce(index: string, successor: string): Promise<void> {
    return this.#write({ ...this.#held.source, index, successor });
  }

  async renew(): Promise<void> {
    if (this.#clock.now() - this.#renewedAt < RENEW_MS) return;
    await this.#write(this.#held.source);
  }

  async isHeld(): Promise<boolean> {
    const found = await this.#locks.get(LOCK_ID);
    return found?.seqNo === this.#held.seqNo;
  }

  async release(): Promise<void> {
    await this.#locks.delete(this.#held);
  }

  async #write(source: LockSource): Promise<void> {
    const lease = this.#clock.now() + LEASE_MS;
    const written = await this.#locks.replace(
      this.#held,
      { ...source, lease_until: lease },
      { refresh: false },
    );
    if (!written) throw new LockLost();
    this.#held = written;
    this.#renewedAt = this.#clock.now();
  }
}

const held = (clock: Clock) => ({ owner: newAttempt(), lease_until: clock.now() + LEASE_MS });

/** Undoes the rebuild of a process that died, so that writes are not held for ever. */
export async function clearAbandoned(cluster: Cluster, names: IndexNames, clock: Clock): Promise<void> {
  const locks = new Documents<LockSource>(cluster, names.alias('migrations'));
  const found = await locks.get(LOCK_ID);
  if (!found || found.source.lease_until > clock.now()) return;
  const lock = await RebuildLock.take(cluster, names, clock);
  await lock?.release();
}
