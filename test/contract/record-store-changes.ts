import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { ChangePosition, ChangesPage } from '../../services/contacts/change-feed.js';
import type { Contact, ContactRecord } from '../../services/contacts/schema.js';
import { searchContacts } from '../../services/contacts/search.js';
import { fromJson } from '../../services/shared/json.js';
import { OverloadedError } from '../../services/shared/store-errors.js';
import { DAY_MS } from '../../services/shared/time.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import type { ParsedStore } from '../support/parsed-store.js';
import { Random, runs, SEED } from '../support/random.js';
import { until } from '../support/until.js';
import {
  asked,
  creation,
  deferred,
  erasure,
  type Filters,
  freshOrganization,
  loadAudiences,
  type Open,
  T0,
  walk,
  withStale,
} from './record-store-support.js';

const NAMES = ['Ada', 'Bob', 'Bobby', 'Cyd', 'Robert'];
const COUNTRIES = ['US', 'France', null];
const AUDIENCES = ['aud', 'b', 'c'];
const WRITERS = 4;
const ROUNDS = 2;
const WRITES_PER_ROUND = 25;
const FOLLOWERS = 4;
/** Pause of a follower between two pages while there are writes, so that writes are not starved. */
const PAUSE_MS = 5;

/** The search that a follower keeps in step with. */
interface Followed {
  filters: Filters;
  audienceId?: string;
}

export function recordStoreChanges(open: Open): void {
  describe('the feed of changes (contract 3.18)', () => {
    const opened = useOpened(() => open());

    for (let draw = 0; draw < runs(4); draw++) {
      it(`a client that stores present and removes absent contacts has what the search finds (draw ${draw} of seed ${SEED})`, async () => {
        await playLaw(opened.store, new Random(SEED * 1000 + draw));
      });
    }

    it('a run from now begins behind every change, and a page without changes keeps its place', async () => {
      const organization = freshOrganization();
      await ingest(opened.store, organization, { contact_id: 'c0' }, T0);
      const first = await page(opened.store, organization, { after: 'now' });
      expect(first).to.deep.include({ changes: [], more: false });
      expect(await page(opened.store, organization, { after: first.next })).to.deep.include({
        changes: [],
        more: false,
      });
      await ingest(opened.store, organization, { contact_id: 'c1' }, T0);
      const next = await page(opened.store, organization, { after: first.next });
      expect(next.changes.map(({ contactId }) => contactId)).to.deep.equal(['c1']);
    });

    it('what changes nothing adds nothing', async () => {
      const organization = freshOrganization();
      await loadAudiences(opened.store, organization, 'aud');
      const record = { contact_id: 'c0', audience_ids: ['aud'], updated_at: new Date(T0).toISOString() };
      await ingest(opened.store, organization, record, T0);
      const { next } = await page(opened.store, organization, { after: 'now' });
      await ingest(
        opened.store,
        organization,
        { ...record, first_name: 'Old', updated_at: new Date(T0 - 1).toISOString() },
        T0,
      );
      await opened.store.addMembership({ organizationId: organization, audienceId: 'aud', contactId: 'c0' });
      await opened.store.deleteContacts({ organizationId: organization, contactIds: ['nobody'] });
      expect((await page(opened.store, organization, { after: next })).changes).to.deep.equal([]);
    });

    it('a position of another numbering expires', async () => {
      const organization = freshOrganization();
      const { next } = await page(opened.store, organization, { after: 'now' });
      const far = next.after.map((number) => number + 1_000_000_000);
      for (const wrong of [
        { ...next, epoch: 'another' },
        { ...next, after: [] },
        { ...next, after: far, start: far },
      ]) {
        expect(
          await opened.store.readChanges({ organizationId: organization, after: wrong, limit: 10 }),
        ).to.include({ kind: 'expired' });
      }
    });

    it('a position expires if a process that kept marks for fewer days has deleted marks after it', async () => {
      const organization = freshOrganization();
      await ingest(opened.store, organization, { contact_id: 'c0' }, T0);
      await opened.store.deleteOldMarks();
      const { next: after } = await page(opened.store, organization, { after: 'now' });
      await opened.store.deleteContacts({ organizationId: organization, contactIds: ['c0'] });
      await opened.store.deleteOldMarks();
      const brief = await opened.another({ changesDays: 1 });
      opened.clock.now = () => Date.now() + 2 * DAY_MS;
      try {
        await ingest(opened.store, organization, { contact_id: 'c1' }, T0);
        const kept = await page(opened.store, organization, { after });
        expect(kept.changes.map(({ contactId }) => contactId)).to.have.members(['c0', 'c1']);
        await brief.deleteOldMarks();
        expect(await opened.store.readChanges({ organizationId: organization, after, limit: 10 })).to.include(
          { kind: 'expired' },
        );
        const { next } = await page(opened.store, organization, {});
        await ingest(opened.store, organization, { contact_id: 'c2' }, T0);
        const { changes } = await page(opened.store, organization, { after: next });
        expect(changes.map(({ contactId }) => contactId)).to.deep.equal(['c2']);
      } finally {
        opened.clock.now = Date.now;
        await brief.close();
      }
    });

    it('marks of deleted contacts are deleted after seven days, and positions before them expire', async () => {
      const organization = freshOrganization();
      await ingest(opened.store, organization, { contact_id: 'c0' }, T0);
      const { next: after } = await page(opened.store, organization, { after: 'now' });
      await opened.store.deleteContacts({ organizationId: organization, contactIds: ['c0'] });
      await opened.store.deleteOldMarks();
      const absent = { organizationId: organization, contactId: 'c0', contact: null };
      expect((await page(opened.store, organization, { after })).changes).to.deep.equal([absent]);
      opened.clock.now = () => Date.now() + 7 * DAY_MS + 2 * 3_600_000;
      try {
        await opened.store.deleteOldMarks();
        expect(await opened.store.readChanges({ organizationId: organization, after, limit: 10 })).to.include(
          { kind: 'expired' },
        );
        const { next, changes } = await page(opened.store, organization, {});
        expect(changes).to.deep.equal([]);
        expect((await page(opened.store, organization, { after: next })).changes).to.deep.equal([]);
      } finally {
        opened.clock.now = Date.now;
      }
    });

    it('more is true until each member of a deleted audience has come into the feed', async () => {
      const organization = freshOrganization();
      const released = deferred();
      const process = await opened.another({ beforeJobStep: () => released.promise });
      await loadAudiences(opened.store, organization, 'aud');
      await ingest(opened.store, organization, { contact_id: 'c0', audience_ids: ['aud'] }, T0);
      const { next: after } = await page(opened.store, organization, { after: 'now' });
      await process.deleteAudience({ organizationId: organization, audienceId: 'aud' });
      expect(await page(opened.store, organization, { after })).to.deep.include({ changes: [], more: true });
      released.resolve();
      await until(async () => !(await page(opened.store, organization, { after })).more, 'the job is done');
      const { changes } = await page(opened.store, organization, { after });
      expect(changes.map(({ contactId }) => contactId)).to.deep.equal(['c0']);
      await process.close();
    });

    it('an unchanged record that lets a contact rejoin a deleted audience is a change, also while the job runs', async () => {
      const organization = freshOrganization();
      const released = deferred();
      const process = await opened.another({ beforeJobStep: () => released.promise });
      try {
        await loadAudiences(opened.store, organization, 'aud');
        const updated_at = new Date(T0).toISOString();
        const record = { contact_id: 'c0', audience_ids: ['aud'], updated_at };
        await ingest(opened.store, organization, record, T0);
        await process.deleteAudience({ organizationId: organization, audienceId: 'aud' });
        const first = await page(opened.store, organization, {});
        expect(audiencesOf(first)).to.deep.equal([[]]);
        await ingest(opened.store, organization, record, T0 + 1);
        const rejoined = await page(opened.store, organization, { after: first.next });
        expect(audiencesOf(rejoined)).to.deep.equal([['aud']]);
        released.resolve();
        // A process that closes leaves its job to the next start, and the feed of all organizations says more until then.
        await until(async () => !(await page(process, organization, {})).more, 'the job has ended');
      } finally {
        released.resolve();
        await process.close();
      }
    });

    it('a run over all organizations has the contacts of each', async () => {
      const organizations = [freshOrganization(), freshOrganization()];
      for (const organization of organizations)
        await ingest(opened.store, organization, { contact_id: organization }, T0);
      const found: string[] = [];
      let after: ChangePosition | undefined;
      for (let more = true, pages = 0; more; pages++) {
        expect(pages, 'pages').to.be.below(10_000);
        const read = await opened.store.readChanges({ after, limit: 100 });
        if (read.kind !== 'page') throw new Error(read.kind);
        for (const { organizationId, contactId, contact } of read.changes)
          if (organizations.includes(organizationId) && contact) found.push(`${organizationId}/${contactId}`);
        ({ next: after, more } = read);
      }
      expect(found).to.have.members(organizations.map((each) => `${each}/${each}`));
    });
  });
}

async function page(
  store: ParsedStore,
  organizationId: string,
  request: { after?: ChangePosition | 'now'; limit?: number },
): Promise<ChangesPage> {
  const read = await store.readChanges({ organizationId, limit: 100, ...request });
  if (read.kind !== 'page') throw new Error(read.kind);
  return read;
}

const audiencesOf = ({ changes }: ChangesPage) =>
  changes.map(({ contact }) => contact && fromJson(contact).audience_ids);

async function ingest(
  store: ParsedStore,
  organizationId: string,
  record: Omit<ContactRecord, 'organization_id'>,
  acceptedAt: number,
): Promise<void> {
  await withStale(
    store.upsertContacts(accepted([{ ...record, organization_id: organizationId }], acceptedAt)),
  );
  await store.refresh();
}

/** A client of the feed. */
class Follower {
  readonly contacts = new Map<string, Contact>();
  readonly #store: ParsedStore;
  readonly #organizationId: string;
  readonly followed: Followed;
  #after: ChangePosition | undefined;
  #reading = 0;

  constructor(store: ParsedStore, organizationId: string, followed: Followed) {
    this.#store = store;
    this.#organizationId = organizationId;
    this.followed = followed;
  }

  get #search() {
    const { filters, audienceId } = this.followed;
    return asked(this.#organizationId, filters, { audienceId });
  }

  /** Reads a page. Returns whether there may be more. */
  async read(limit: number): Promise<boolean> {
    const { query, fallback } = await searchContacts(
      (search) => this.#store.searchContactKeys(search),
      this.#search,
    );
    const reading = fallback?.fallback ?? 0;
    const isSame = this.#after === undefined || reading === this.#reading;
    this.#reading = reading;
    const read = isSame
      ? await this.#store.readChanges({
          organizationId: this.#organizationId,
          search: { ...this.#search, query },
          after: this.#after,
          limit,
        })
      : { kind: 'expired' as const };
    if (read.kind === 'expired') {
      this.contacts.clear();
      this.#after = undefined;
      return true;
    }
    if (read.kind !== 'page') throw new Error(read.kind);
    expect(read.changes.length).to.be.at.most(limit);
    for (const { organizationId, contactId, contact } of read.changes) {
      expect(organizationId).to.equal(this.#organizationId);
      if (contact === null) this.contacts.delete(contactId);
      else this.contacts.set(contactId, fromJson(contact));
    }
    this.#after = read.next;
    return read.more;
  }

  /** The contacts that the search finds, by id. */
  async expected(): Promise<Map<string, Contact>> {
    const { page: first } = await searchContacts(
      (search) => this.#store.searchContacts(search),
      this.#search,
    );
    const rest =
      first.next === null
        ? []
        : await walk((after) =>
            this.#store.searchContacts({ ...this.#search, after: after ?? (first.next as never) }),
          );
    return new Map([...first.items, ...rest].map((contact) => [contact.contact_id, contact]));
  }
}

async function playLaw(store: ParsedStore, random: Random): Promise<void> {
  const organization = freshOrganization();
  await loadAudiences(store, organization, ...AUDIENCES);
  const followers = Array.from(
    { length: FOLLOWERS },
    (_, index) => new Follower(store, organization, index === 0 ? { filters: {} } : drawFilter(random)),
  );
  const history: string[] = [];
  const writer = new RandomWriter(store, organization, random, history);
  for (let round = 0; round < ROUNDS; round++) {
    let isWriting = true;
    const writing = Promise.all(
      Array.from({ length: WRITERS }, async () => {
        for (let write = 0; write < WRITES_PER_ROUND; write++) await writer.write();
      }),
    ).finally(() => {
      isWriting = false;
    });
    const reading = followers.map(async (follower) => {
      while (isWriting) {
        await follower.read(random.between(1, 7));
        await pause(PAUSE_MS);
      }
    });
    await Promise.all([writing, ...reading]);
    await store.refresh();
    for (const follower of followers) {
      await until(async () => !(await follower.read(random.between(1, 9))), 'the feed reaches the present');
      const message = JSON.stringify({ followed: follower.followed, round, history: history.slice(-100) });
      const expected = await follower.expected();
      expect([...follower.contacts.keys()].sort(), message).to.deep.equal([...expected.keys()].sort());
      for (const [id, contact] of expected) expect(follower.contacts.get(id), message).to.deep.equal(contact);
    }
  }
}

function drawFilter(random: Random): Followed {
  const filters: Filters = {};
  if (random.chance(0.4)) filters.first_name = random.pick(NAMES);
  if (random.chance(0.3)) filters.country = random.pick(['US', 'France']);
  if (random.chance(0.3))
    filters.query = random.pick([...NAMES, 'adda', 'bob robert', '-ada', 'www.shop.example']);
  if (random.chance(0.2)) filters.updated_after = new Date(T0 + random.below(100)).toISOString();
  return { filters, ...(random.chance(0.3) && { audienceId: random.pick(AUDIENCES) }) };
}

type WriteKind = keyof RandomWriter['writes'];

/** Writes as drawn, and notes each write for the message of a failure. */
class RandomWriter {
  readonly #store: ParsedStore;
  readonly #organization: string;
  readonly #random: Random;
  readonly #history: string[];
  #count = 0;

  constructor(store: ParsedStore, organization: string, random: Random, history: string[]) {
    this.#store = store;
    this.#organization = organization;
    this.#random = random;
    this.#history = history;
  }

  async write(): Promise<void> {
    const random = this.#random;
    const number = this.#count++;
    const kind = random.pick(Object.keys(this.writes) as WriteKind[]);
    this.#history.push(`${number} ${kind}`);
    // Elasticsearch refuses some changes of one contact at the same moment.
    await this.writes[kind](number).catch((error: unknown) => {
      if (!(error instanceof OverloadedError)) throw error;
    });
  }

  get #contactId(): string {
    return `c${this.#random.below(25)}`;
  }

  #fields() {
    const random = this.#random;
    return {
      first_name: random.pick(NAMES),
      country: random.pick(COUNTRIES),
      company_domain: random.pick(['shop.example', 'corp.example', null]),
      work_emails: random.chance(0.2) ? [`p${random.below(6)}@mail.example`] : [],
    };
  }

  readonly writes = {
    ingest: async () => {
      const random = this.#random;
      const deleted = random.chance(0.15);
      const records = Array.from({ length: random.between(1, 4) }, () => ({
        organization_id: this.#organization,
        contact_id: this.#contactId,
        ...(deleted ? { deleted } : this.#fields()),
        ...(!deleted && random.chance(0.4) && { audience_ids: random.some(AUDIENCES, 2) }),
        ...(random.chance(0.7) && { updated_at: new Date(T0 + random.below(200)).toISOString() }),
        ...(!deleted &&
          random.chance(0.2) && { created_at: new Date(T0 - random.below(50) * 60_000).toISOString() }),
      }));
      // Suppressed records are rejected.
      await withStale(this.#store.upsertContacts(accepted(records, T0 + random.below(200)))).catch(
        (error: unknown) => {
          if ((error as Error).name !== 'PartialWriteError') throw error;
        },
      );
    },
    create: (number: number) =>
      this.#store.createContact(
        creation(this.#organization, `n${number}`, this.#fields(), {
          audienceId: this.#random.pick(AUDIENCES),
          onDuplicate: this.#random.pick(['create', 'return', 'update'] as const),
        }),
      ),
    update: () =>
      this.#store.updateContact({
        organizationId: this.#organization,
        contactId: this.#contactId,
        changes: this.#fields(),
      }),
    changeMany: () =>
      this.#store.changeMemberships({
        organizationId: this.#organization,
        audienceId: this.#random.pick(AUDIENCES),
        contactIds: [...new Set([this.#contactId, this.#contactId, this.#contactId])],
        change: this.#random.pick(['join', 'leave'] as const),
      }),
    join: () => this.#store.addMembership(this.#membership()),
    leave: () => this.#store.removeMembership(this.#membership()),
    delete: () =>
      this.#store.deleteContacts({ organizationId: this.#organization, contactIds: [this.#contactId] }),
    erase: (number: number) =>
      this.#random.chance(0.4)
        ? this.#store.eraseContacts(
            erasure(this.#organization, `proof_${this.#organization}_${number}`, [this.#contactId]),
          )
        : Promise.resolve(),
    deleteAudience: () =>
      this.#store.deleteAudience({
        organizationId: this.#organization,
        audienceId: this.#random.pick(AUDIENCES),
      }),
    returnAudience: () =>
      this.#store.upsertAudiences(
        accepted(
          [{ organization_id: this.#organization, id: this.#random.pick(AUDIENCES), name: 'again' }],
          Date.now() + 1000,
        ),
      ),
  } satisfies Record<string, (number: number) => Promise<unknown>>;

  #membership() {
    return {
      organizationId: this.#organization,
      audienceId: this.#random.pick(AUDIENCES),
      contactId: this.#contactId,
    };
  }
}
