/** Finishes what processes that died have left behind. Every gateway sweeps; two at once do no harm. */
import type { Clock } from '../../shared/clock.js';
import type { Claims } from './claims.js';
import type { Cluster } from './cluster.js';
import type { ContactWrites } from './contact-writes.js';
import type { IndexNames } from './indices.js';
import type { Ledger } from './ledger.js';
import { clearAbandoned } from './rebuild-lock.js';

/** Long enough that a creation is rarely still under way, and its credits are soon back. */
const OVERDUE_MS = 60_000;
const INTERVAL_MS = 15_000;
const AT_ONCE = 100;

export interface Swept {
  cluster: Cluster;
  names: IndexNames;
  ledger: Ledger;
  claims: Claims;
  contacts: ContactWrites;
  clock: Clock;
}

export async function sweep({ cluster, names, ledger, claims, contacts, clock }: Swept): Promise<void> {
  await clearAbandoned(cluster, names, clock);
  const now = clock.now();
  for (const { organizationId, reservations } of await ledger.overdue(now - OVERDUE_MS, AT_ONCE)) {
    for (const { id, contact_id } of reservations) {
      await contacts.conclude(organizationId, contact_id, id, now);
    }
  }
  await claims.dropOld(now, AT_ONCE);
}

/** Sweeps every few seconds until stopped; what fails is tried again the next time. */
export function startSweeper(sweepOnce: () => Promise<void>): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let running: Promise<void> = Promise.resolve();
  const schedule = () => {
    timer = setTimeout(
      () => {
        running = sweepOnce()
          .catch(() => undefined)
          .then(() => {
            if (!stopped) schedule();
          });
      },
      INTERVAL_MS * (0.75 + Math.random() / 2),
    );
    timer.unref();
  };
  schedule();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
