/**
 * Credits, in one document an organization that also holds its open reservations. A creation reserves first, then
 * writes the contact, then settles. Whatever it was doing when it died, the contact tells which of the two remains.
 */
import { randomUUID } from 'node:crypto';
import type { Cluster } from './client.js';
import { Documents, type VersionedDocument } from './documents.js';
import type { IndexNames } from './migrations/indices.js';
import { retryWithBackoff } from './retry.js';

/** Credits taken from the balance for a contact that may not be there yet. */
export interface Reservation {
  id: string;
  contact_id: string;
  amount: number;
  /** The balance after it. */
  balance: number;
  /** Milliseconds since the epoch. */
  reserved_at: number;
}

export interface AccountSource {
  organization_id: string;
  balance: number;
  reservations: Reservation[];
  /** The last writes, so that one whose answer got lost is known again. */
  writes: string[];
}

export type ReserveResult =
  | { kind: 'unmetered' }
  | { kind: 'insufficient'; balance: number }
  /** `reservation` is null where nothing had to be reserved. */
  | { kind: 'reserved'; reservation: string | null; balance: number };

type Account = Pick<AccountSource, 'balance' | 'reservations'>;
/** The account after a change, the same object where nothing changes; null is an organization that is not metered. */
type Change<T> = (account: Account | null) => { account: Account | null; result: T };

interface Waiting {
  change: Change<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

const MAX_WRITE_IDS = 64;
const CHANGES_PER_WRITE = 200;
const ACCOUNTS_PER_PAGE = 100;

export class Ledger {
  readonly #accounts: Documents<AccountSource>;
  /** Changes that wait, by organization: all that wait are one write. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #running = new Set<Promise<void>>();

  constructor(cluster: Cluster, names: IndexNames) {
    this.#accounts = new Documents(cluster, names.alias('accounts'));
  }

  /** Null when the organization is not metered. */
  async balance(organizationId: string): Promise<number | null> {
    const found = await this.#accounts.get(organizationId);
    return found?.source.balance ?? null;
  }

  /** What is still reserved comes out of the old balance, so its end changes nothing about the new one. */
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

  /** Takes up the reservation that an earlier attempt made for the same contact. */
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

  /** The contact is there: the credits are spent. */
  settle(organizationId: string, reservation: string): Promise<void> {
    return this.#end(organizationId, reservation, false);
  }

  /** The contact is not there, and never will be: the credits come back. */
  refund(organizationId: string, reservation: string): Promise<void> {
    return this.#end(organizationId, reservation, true);
  }

  /** Reservations older than a moment, of all accounts. */
  async *overdue(before: number): AsyncGenerator<Reservation & { organization_id: string }> {
    for (let last: (string | number)[] | undefined; ; ) {
      const { hits } = await this.#accounts.search({
        size: ACCOUNTS_PER_PAGE,
        track_total_hits: false,
        query: { range: { 'reservations.reserved_at': { lt: before, format: 'epoch_millis' } } },
        sort: [{ organization_id: 'asc' }],
        search_after: last,
      });
      for (const { _source } of hits.hits) {
        const { organization_id, reservations } = _source as AccountSource;
        for (const reservation of reservations) {
          if (reservation.reserved_at < before) yield { ...reservation, organization_id };
        }
      }
      if (hits.hits.length < ACCOUNTS_PER_PAGE) return;
      last = hits.hits.at(-1)?.sort as (string | number)[];
    }
  }

  /** Nothing is being written any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  #end(organizationId: string, id: string, refunded: boolean): Promise<void> {
    return this.#change(organizationId, (account) => {
      const ended = account?.reservations.find((reservation) => reservation.id === id);
      if (!account || !ended) return { account, result: undefined };
      return {
        account: {
          balance: account.balance + (refunded ? ended.amount : 0),
          reservations: account.reservations.filter((reservation) => reservation !== ended),
        },
        result: undefined,
      };
    });
  }

  #change<T>(organizationId: string, change: Change<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = { change, resolve, reject } as Waiting;
      const others = this.#waiting.get(organizationId);
      if (others) {
        others.push(waiting);
        return;
      }
      const queue = [waiting];
      this.#waiting.set(organizationId, queue);
      const running = this.#run(organizationId, queue).finally(() => this.#running.delete(running));
      this.#running.add(running);
    });
  }

  async #run(organizationId: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, CHANGES_PER_WRITE);
      try {
        const results = await this.#apply(
          organizationId,
          batch.map(({ change }) => change),
        );
        for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#waiting.delete(organizationId);
  }

  async #apply(organizationId: string, changes: Change<unknown>[]): Promise<unknown[]> {
    const write = randomUUID();
    let results: unknown[] = [];
    return retryWithBackoff(async () => {
      const found: VersionedDocument<AccountSource> | null = await this.#accounts.get(organizationId);
      // Our own write, whose answer got lost.
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
