/**
 * Creators that would rather not make a duplicate (contract 3.3) take turns: of those that share a profile or a work email only
 * one at a time looks for the other and writes. Creators that do not mind, and imports, need no turn: they may come after.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { StoreTimeout } from '../store-error.js';
import type { Claim, Claims } from './claims.js';

const ROUTE = 'on_duplicate';
/** Until then a creator that died keeps the others waiting; later another takes its turn. */
const LEASE_MS = 20_000;
const PATIENCE_MS = 28_000;
const PAUSE_MS = 40;

export class DuplicateLocks {
  readonly #claims: Claims;

  constructor(claims: Claims) {
    this.#claims = claims;
  }

  /** What `find` answers, looking again while others may be making it; where it stays null, what `make` answers. */
  async findOrMake<T>(
    organizationId: string,
    keys: readonly string[],
    now: number,
    find: () => Promise<T | null>,
    make: () => Promise<T>,
  ): Promise<T> {
    const start = Date.now();
    for (;;) {
      const known = await find();
      if (known !== null) return known;
      const waited = Date.now() - start;
      const turn = await this.#take(organizationId, keys, now + waited);
      if (turn) {
        // Between our look and our turn another may have had its own.
        const outcome = (await find()) ?? (await make());
        // After a failure nobody knows what was written, so that the turn ends with its lease.
        await this.#release(turn);
        return outcome;
      }
      if (waited > PATIENCE_MS) throw new StoreTimeout('search');
      await pause(PAUSE_MS);
    }
  }

  /** Null when another has one of the keys. In order, so that of those who want the same one gets all. */
  async #take(organizationId: string, keys: readonly string[], now: number): Promise<Claim[] | null> {
    const taken: Claim[] = [];
    for (const key of [...new Set(keys)].sort()) {
      const lock = { route: ROUTE, key, fingerprint: '' };
      const claimed = await this.#claims.claim(organizationId, lock, null, now, LEASE_MS);
      if (claimed.kind !== 'claimed') {
        await this.#release(taken);
        return null;
      }
      taken.push(claimed.claim);
    }
    return taken;
  }

  async #release(claims: readonly Claim[]): Promise<void> {
    await Promise.all(claims.map((claim) => this.#claims.release(claim).catch(() => undefined)));
  }
}
