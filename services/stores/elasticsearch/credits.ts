/**
 * Credits: one document per organization with its balance and open reservations. A creation reserves credits, writes the contact, then
 * settles. If a process dies in between, the contact decides: if it exists, the reservation is settled, otherwise refunded.
 */
import { randomUUID } from 'node:crypto';
import type { Cluster } from './client.js';
import { Documents, type VersionedDocument } from './documents.js';
import type { IndexNames } from './migrations/indices.js';
import { retryWithBackoff } from './retry.js';

/** Credits taken from the balance for a contact that may not be written yet. */
export interface Reservation {
  id: string;
  contact_id: string;
  amount: number;
  /** The balance after the reservation. */
  balance: number;
  /** Milliseconds since the epoch. */
  reserved_at: number;
}

export interface AccountSource {
  organization_id: string;
  balance: number;
  reservations: Reservation[];
  /** Ids of the last writes. If the response of a write was lost, its id shows that the write was applied. */
  writes: string[];
}

export type ReserveResult =
  | { kind: 'unmetered' }
  | { kind: 'insufficient'; balance: number }
  /** `reservation` is null if the amount is 0. */
  | { kind: 'reserved'; reservation: string | null; balance: number };

type Account = Pick<AccountSource, 'balance' | 'reservations'>;
/** The account after a change: the same object if nothing changes, null if the organization is not metered. */
type AccountChange<T> = (account: Account | null) => { account: Account | null; result: T };

/** Changes of one account that are written together. */
interface Batch {
  changes: AccountChange<unknown>[];
  results: Promise<unknown[]>;
}

const MAX_WRITE_IDS = 64;
const ACCOUNTS_PER_PAGE = 100;

export class CreditAccounts {
  readonly #accounts: Documents<AccountSource>;
  /** Changes that queue up during a write and are written together next, by organization. */
  readonly #next = new Map<string, Batch>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(cluster: Cluster, names: IndexNames) {
    this.#accounts = new Documents(cluster, names.alias('accounts'));
  }

  /** Reads the balance; null if the organization is not metered. */
  async balance(organizationId: string): Promise<number | null> {
    const found = await this.#accounts.get(organizationId);
    return found?.source.balance ?? null;
  }

  /** Sets the balance and drops open reservations: these belong to the old balance, and must not be refunded to the new balance. */
  set(organizationId: string, balance: number): Promise<void> {
    return this.#change(organizationId, () => ({
      account: { balance, reservations: [] },
      result: undefined,
    }));
  }

  grant(organizationId: string, amount: number): Promise<number | null> {
    return this.#change<number | null>(organizationId, (account) => {
      if (!account) return { account, result: null };
      const balance = account.balance + amount;
      return { account: { balance, reservations: account.reservations }, result: balance };
    });
  }

  /** Reserves credits. Reuses the open reservation of an earlier attempt for the same contact. */
  reserve(organizationId: string, contactId: string, amount: number, now: number): Promise<ReserveResult> {
    const id = randomUUID();
    return this.#change<ReserveResult>(organizationId, (account) => {
      if (!account) return { account, result: { kind: 'unmetered' } };
      const open = account.reservations.find(({ contact_id }) => contact_id === contactId);
      if (open) {
        return { account, result: { kind: 'reserved', reservation: open.id, balance: open.balance } };
      }
      const balance = account.balance - amount;
      if (balance < 0) return { account, result: { kind: 'insufficient', balance: account.balance } };
      if (amount === 0) return { account, result: { kind: 'reserved', reservation: null, balance } };
      const reservation: Reservation = { id, contact_id: contactId, amount, balance, reserved_at: now };
      return {
        account: { balance, reservations: [...account.reservations, reservation] },
        result: { kind: 'reserved', reservation: id, balance },
      };
    });
  }

  /** Ends a reservation whose contact exists: the credits are spent. */
  settle(organizationId: string, reservation: string): Promise<void> {
    return this.#close(organizationId, reservation, false);
  }

  /** Ends a reservation whose contact does not exist and can no longer be written: the credits are returned. */
  refund(organizationId: string, reservation: string): Promise<void> {
    return this.#close(organizationId, reservation, true);
  }

  /** Open reservations of all accounts from before `before`, in milliseconds since the epoch. */
  async *overdue(before: number): AsyncGenerator<Reservation & { organization_id: string }> {
    const pages = this.#accounts.pages({
      size: ACCOUNTS_PER_PAGE,
      query: { range: { 'reservations.reserved_at': { lt: before, format: 'epoch_millis' } } },
      sort: [{ organization_id: 'asc' }],
    });
    for await (const hits of pages) {
      for (const { _source } of hits) {
        const { organization_id, reservations } = _source as AccountSource;
        for (const reservation of reservations) {
          if (reservation.reserved_at < before) yield { ...reservation, organization_id };
        }
      }
    }
  }

  /** Resolves when no write is running. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  #close(organizationId: string, id: string, refunded: boolean): Promise<void> {
    return this.#change(organizationId, (account) => {
      const closed = account?.reservations.find((reservation) => reservation.id === id);
      if (!account || !closed) return { account, result: undefined };
      return {
        account: {
          balance: account.balance + (refunded ? closed.amount : 0),
          reservations: account.reservations.filter((reservation) => reservation !== closed),
        },
        result: undefined,
      };
    });
  }

  async #change<T>(organizationId: string, change: AccountChange<T>): Promise<T> {
    const { changes, results } = this.#next.get(organizationId) ?? this.#begin(organizationId);
    const index = changes.push(change) - 1;
    return (await results)[index] as T;
  }

  #begin(organizationId: string): Batch {
    const changes: AccountChange<unknown>[] = [];
    const results = this.#accounts.keyedMutex.runExclusive([organizationId], () => {
      this.#next.delete(organizationId);
      return this.#apply(organizationId, changes);
    });
    this.#running.add(results);
    void results.catch(() => undefined).finally(() => this.#running.delete(results));
    const batch = { changes, results };
    this.#next.set(organizationId, batch);
    return batch;
  }

  async #apply(organizationId: string, changes: AccountChange<unknown>[]): Promise<unknown[]> {
    const write = randomUUID();
    let results: unknown[] = [];
    return retryWithBackoff(async () => {
      const found: VersionedDocument<AccountSource> | null = await this.#accounts.get(organizationId);
      // The stored change is our own write, whose response was lost.
      if (found?.source.writes.includes(write)) return results;
      let account: Account | null = found?.source ?? null;
      results = changes.map((change) => {
        const changed = change(account);
        account = changed.account;
        return changed.result;
      });
      if (account === null || account === found?.source) return results;
      const { balance, reservations } = account as Account;
      const writes = [...(found?.source.writes ?? []), write].slice(-MAX_WRITE_IDS);
      const source: AccountSource = { organization_id: organizationId, balance, reservations, writes };
      const done = found
        ? await this.#accounts.replace(found, source, { refresh: false })
        : await this.#accounts.create(organizationId, source, { refresh: false });
      return done ? results : undefined;
    });
  }
}
