import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { allPages, asked, creation, load, loadAudiences, T0 } from '../../contract/record-store-support.js';
import { accepted } from '../../support/accepted.js';
import type { ParsedStore } from '../../support/parsed-store.js';

export const ORGANIZATION = 'org_reindexed';
export const LOADED = 300;
/** Senders of each kind of request. All requests of a contact come from the same sender. */
const SENDERS = 30;
/** Milliseconds after each response, so that a reindex keeps up. */
const PAUSE_MS = 500;

/** Creates, updates, adds, removes and retries, and records what was acknowledged. */
export class Traffic {
  readonly #store: ParsedStore;
  readonly #created = new Set<string>();
  readonly #cities = new Map<string, string>();
  readonly #members = new Map<string, boolean>();
  /** Requests whose outcome is kept, by idempotency key. */
  readonly #kept = new Map<string, () => Promise<unknown>>();
  readonly #errors: string[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #paused = false;
  readonly #numbers = Array.from({ length: SENDERS }, (_, sender) => sender);

  private constructor(store: ParsedStore) {
    this.#store = store;
  }

  static async start(store: ParsedStore): Promise<Traffic> {
    const traffic = new Traffic(store);
    await loadAudiences(store, ORGANIZATION, 'aud');
    const contacts = Array.from({ length: LOADED }, (_, index) => ({
      contact_id: `loaded_${index}`,
      first_name: 'Loaded',
    }));
    await load(store, ORGANIZATION, contacts);
    traffic.#resume();
    return traffic;
  }

  #resume(): void {
    this.#paused = false;
    this.#running = Promise.all(this.#numbers.map((_, sender) => this.#send(sender)));
  }

  /** One request after another: a busy machine sends fewer of them, and never two for one contact at once. */
  async #send(sender: number): Promise<void> {
    while (!this.#paused) {
      const number = this.#numbers[sender] as number;
      this.#numbers[sender] = number + SENDERS;
      await this.#one(number).catch(
        (error: Error) => void this.#errors.push(`${number}: ${error.message}: ${error.cause}`),
      );
      await pause(PAUSE_MS);
    }
  }

  async stop(): Promise<void> {
    this.#paused = true;
    await this.#running;
  }

  /** Pauses, compares what was acknowledged with what is stored, and resumes. */
  async verify(when = 'undisturbed'): Promise<void> {
    await this.stop();
    expect(this.#errors, when).to.deep.equal([]);
    await this.#store.refresh();
    const contacts = await allPages(this.#store, asked(ORGANIZATION, { limit: 1000 }));
    const held = new Map(contacts.map((contact) => [contact.contact_id, contact]));
    for (let index = 0; index < LOADED; index++) {
      expect(held.has(`loaded_${index}`), `${when}: loaded_${index}`).to.equal(true);
    }
    for (const id of this.#created) expect(held.has(id), `${when}: ${id}`).to.equal(true);
    for (const [id, city] of this.#cities) expect(held.get(id)?.city, `${when}: ${id}`).to.equal(city);
    for (const [id, isMember] of this.#members) {
      expect(held.get(id)?.audience_ids, `${when}: ${id}`).to.deep.equal(isMember ? ['aud'] : []);
    }
    const kept = [...this.#kept].slice(-20);
    const repeated = await Promise.all(kept.map(async ([key, repeat]) => ({ key, result: await repeat() })));
    for (const { key, result } of repeated) {
      expect(result, `${when}: the outcome kept for ${key}`).to.deep.include({ replayed: true });
    }
    this.#resume();
  }

  async #one(number: number): Promise<void> {
    // Each kind of request has its own contacts.
    const id = `loaded_${number % LOADED}`;
    const membership = { organizationId: ORGANIZATION, audienceId: 'aud', contactId: id };
    const idempotency = { route: 'test', key: `k${number}`, fingerprint: 'f' };
    switch (number % 5) {
      case 0: {
        const create = () =>
          this.#store.createContact(
            creation(
              ORGANIZATION,
              `c${number}`,
              { work_emails: [`p${number}@x.example`] },
              { requiredCredits: 1, onDuplicate: 'reject', idempotency },
            ),
          );
        const created = await create();
        if (created.kind !== 'done' || created.value.kind !== 'created')
          throw new Error(JSON.stringify(created));
        this.#created.add(`c${number}`);
        this.#kept.set(idempotency.key, create);
        return;
      }
      case 1: {
        const city = `City${number}`;
        const record = { organization_id: ORGANIZATION, contact_id: id, city };
        const updated_at = new Date(T0 + number).toISOString();
        await this.#store.upsertContacts(accepted([{ ...record, updated_at }], T0));
        this.#cities.set(id, city);
        return;
      }
      case 2: {
        const added = await this.#store.addMembership(membership);
        if (added.kind !== 'done' || added.value.kind !== 'added') throw new Error(JSON.stringify(added));
        this.#members.set(id, true);
        return;
      }
      case 3: {
        const leave = async () => this.#store.removeMembership({ ...membership, idempotency });
        const left = await leave();
        if (left.kind !== 'done') throw new Error(JSON.stringify(left));
        this.#kept.set(idempotency.key, leave);
        return;
      }
      default: {
        // This request writes nothing, so its key is released.
        const missing = { ...membership, audienceId: 'missing', idempotency };
        const rejected = await this.#store.addMembership(missing);
        if (rejected.kind !== 'done' || rejected.value.kind !== 'audience_not_found') {
          throw new Error(JSON.stringify(rejected));
        }
      }
    }
  }
}
