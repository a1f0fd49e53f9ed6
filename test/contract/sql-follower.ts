import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { ChangePosition, ChangesRequest } from '../../services/contacts/change-feed.js';
import type { Contact } from '../../services/contacts/schema.js';
import type { Json } from '../../services/shared/json.js';
import { systemClock } from '../../services/shared/time.js';
import type { OpenedAnalyticsStore } from '../../services/stores/clickhouse/store.js';
import type { RecordStore } from '../../services/stores/common/record-store.js';
import type { NewTables, SqlCopies, SqlCopy } from '../../services/stores/common/sql-copy.js';
import { allCopies } from '../../services/stores/copy/all-copies.js';
import { SqlFollower } from '../../services/stores/copy/follower.js';
import { accepted } from '../support/accepted.js';
import { filesWith } from '../support/files.js';
import { until } from '../support/until.js';
import { erasure } from './record-store-support.js';

const ORGANIZATION = 'org_one';
const KILLED = new Error('killed');

export interface FollowedStores {
  records: RecordStore;
  analytics: OpenedAnalyticsStore;
  /** Folders that hold the files of both stores; empty if they are not known. */
  folders: readonly string[];
  /** Runs a statement over the views. */
  ask<Row>(query: string): Promise<Row[]>;
  /** Databases of tables that are not yet read or no longer, and of those that are. */
  copies: string;
  tables: string;
}

/** Opens an empty records store whose erasures complete soon, and an empty analytics store. */
export function testSqlFollower(
  open: (copies: () => SqlCopies | undefined) => Promise<FollowedStores>,
): void {
  let stores: FollowedStores;
  let opened: OpenedAnalyticsStore;
  let records: RecordStore;
  let copy: SqlCopy;
  let follower: SqlFollower;
  let time = Date.UTC(2026, 0, 2);

  before(async () => {
    stores = await open(() => copy && allCopies([copy]));
    ({ records, analytics: opened } = stores);
    copy = opened.sqlCopies[0] as SqlCopy;
    follower = newFollower();
  });
  after(async () => {
    await records.close();
    await opened.store.close();
  });

  const newFollower = (copied: SqlCopy = copy) =>
    new SqlFollower({ records, copies: [copied], clock: systemClock });

  const ask = <Row = Record<string, unknown>>(query: string) => stores.ask<Row>(query);
  const rows = (view: string, organizationId = ORGANIZATION) =>
    ask(`SELECT * FROM ${view} WHERE organization_id = '${organizationId}' ORDER BY ALL`);
  const ids = async (organizationId = ORGANIZATION) =>
    (await rows('contacts', organizationId)).map(({ contact_id }) => contact_id);
  const tables = async () =>
    (
      await ask<{ name: string }>(
        `SELECT name FROM system.tables WHERE database = '${stores.copies}' ORDER BY name`,
      )
    )
      .map(({ name }) => name)
      .filter((name) => name.includes('_next'));

  /** On servers, analysts may also read the tables of the views. */
  const readableInTables = async (contactId: string) =>
    stores.tables === stores.copies
      ? []
      : ask(`SELECT 1 FROM ${stores.tables}.contacts WHERE contact_id = '${contactId}' AND is_deleted = 0`);

  function write(name: StreamName, written: object[], organizationId = ORGANIZATION) {
    time += 1000;
    const whole = written.map((record) => ({ organization_id: organizationId, ...record }));
    return STREAMS[name].write({ records, analytics: opened.store }, accepted(whole as never[], time));
  }
  const visit = (id: string, createdAt: string, more = {}) => ({
    organization_id: undefined,
    organizationId: ORGANIZATION,
    id,
    createdAt,
    ...more,
  });

  it('shows contacts, memberships and audiences as they are written, changed and deleted', async () => {
    await write('audiences', [
      { id: 'a', name: 'A', network_a: true },
      { id: 'b', name: 'B' },
    ]);
    await write('contacts', [
      {
        contact_id: 'ann',
        first_name: `Ann "O'Hara"\\\t`,
        audience_ids: ['a', 'b'],
        dob: '1990-01-31',
        age: 36,
        work_emails: ['ann@a.example', 'o@a.example'],
      },
      { contact_id: 'bob', first_name: 'Bob', dob: '1850-01-31' },
    ]);
    await write('contacts', [{ contact_id: 'ann', first_name: 'Other' }], 'org_other');
    const before = Date.now();
    await follower.run();
    expect(await follower.followedAt()).to.be.within(before, Date.now());
    expect(await ids()).to.deep.equal(['ann', 'bob']);
    expect(await ids('org_other')).to.deep.equal(['ann']);
    const [ann, bob] = await rows('contacts');
    expect(ann).to.deep.include({ first_name: `Ann "O'Hara"\\\t`, age: 36, dob: '1990-01-31', city: null });
    expect(ann).to.deep.include({ work_emails: ['ann@a.example', 'o@a.example'], phones: [] });
    expect(ann).to.deep.include({ audience_ids: ['a', 'b'], created_at: '2026-01-02 00:00:02.000' });
    expect(bob).to.include({ dob: '1900-01-01' });
    expect(await rows('memberships')).to.deep.equal([
      { organization_id: ORGANIZATION, audience_id: 'a', contact_id: 'ann' },
      { organization_id: ORGANIZATION, audience_id: 'b', contact_id: 'ann' },
    ]);
    expect((await rows('audiences')).map(({ name, network_a }) => [name, network_a])).to.deep.equal([
      ['A', true],
      ['B', false],
    ]);

    await write('contacts', [
      { contact_id: 'ann', city: 'Oslo' },
      { contact_id: 'bob', deleted: true },
    ]);
    await write('audiences', [{ id: 'b', deleted: true }]);
    await records.removeMembership({ organizationId: ORGANIZATION, audienceId: 'a', contactId: 'ann' });
    await follower.run();
    expect(await ids()).to.deep.equal(['ann']);
    expect((await rows('contacts'))[0]).to.deep.include({ city: 'Oslo', audience_ids: ['b'] });
    expect((await rows('audiences')).map(({ audience_id }) => audience_id)).to.deep.equal(['a']);
    await write('contacts', [
      { contact_id: 'bob', first_name: 'Bob again', updated_at: '2030-01-01T00:00:00Z' },
    ]);
    await follower.run();
    expect(await ids()).to.deep.equal(['ann', 'bob']);
    expect(await tables()).to.deep.equal([]);
  });

  it('shows each visit once, the first record of it, until retention deletes it', async () => {
    const moments = ['2026-03-01T00:00:00Z', '2026-03-20T00:00:00Z', '2026-04-01T00:00:00Z'];
    const visits = moments.map((createdAt, index) => visit(`v${index}`, createdAt, { country: 'Germany' }));
    await write('website-visits', [...visits, visit('old', '0004-01-01T00:00:00Z')]);
    await follower.run();
    await write(
      'website-visits',
      visits.map((each) => ({ ...each, country: 'Norway' })),
    );
    // A record that was accepted earlier and arrives later replaces the newest visit.
    const early = { ...visits[2], country: 'Sweden', organization_id: undefined };
    await STREAMS['website-visits'].write(
      { records, analytics: opened.store },
      accepted([early] as never[], Date.UTC(2026, 0, 1)),
    );
    await follower.run();
    const stored = async () =>
      (await rows('website_visits')).map(({ visit_id, country }) => `${visit_id} ${country}`);
    expect(await stored()).to.deep.equal(['v0 Germany', 'v1 Germany', 'v2 Sweden']);
    const before = Date.UTC(2026, 2, 10);
    expect(await opened.store.countVisitsBefore(before)).to.be.above(0);
    while ((await records.deleteVisitsBefore(before, 100)) > 0);
    await opened.store.deleteVisitsBefore(before);
    await follower.run();
    expect(await stored()).to.deep.equal(['v1 Germany', 'v2 Sweden']);
    while ((await records.deleteVisitsBefore(Date.UTC(2027, 0, 1), 100)) > 0);
    await opened.store.deleteVisitsBefore(Date.UTC(2027, 0, 1));
    await write('website-visits', [visit('new', '2026-05-01T00:00:00Z', { country: 'Chile' })]);
    await follower.run();
    expect(await stored()).to.deep.equal(['new Chile']);
  });

  it('hides an erased person at once, and no byte of the person is left when the proof is complete', async () => {
    const traces = ['quillonxyz', 'vexborough'];
    const texts = { first_name: 'Quillonxyz', work_emails: ['q@vexborough.example'] };
    await write('contacts', [{ contact_id: 'person', ...texts }, { contact_id: 'other' }]);
    await follower.run();
    // Former versions of the person are erased too.
    await write('contacts', [{ contact_id: 'person', city: 'Oslo' }]);
    await follower.run();
    const left = () => stores.folders.flatMap((folder) => filesWith(folder, traces));
    if (stores.folders.length > 0) expect(left()).not.to.deep.equal([]);
    const { proof } = await records.eraseContacts(erasure(ORGANIZATION, 'era_1', ['person'], []));
    expect(await ids()).not.to.include('person');
    expect(await readableInTables('person')).to.deep.equal([]);
    expect(proof.completed_at).to.equal(null);
    const isComplete = async () => {
      await follower.run();
      expect(await ids())
        .to.include('other')
        .and.not.to.include('person');
      const { items } = await records.listErasures({ organizationId: ORGANIZATION, limit: 1 });
      return !items[0]?.includes('"completed_at":null');
    };
    await until(isComplete, 'the proof is complete', { pollMs: 200, timeoutMs: 60_000 });
    expect(left()).to.deep.equal([]);
    expect(await ask(`SELECT 1 FROM ${stores.tables}.contacts WHERE contact_id = 'person'`)).to.deep.equal(
      [],
    );
  });

  it('hides an erased person whose batch was read before the erasure', async () => {
    await write('contacts', [{ contact_id: 'late' }]);
    const slow = newFollower({
      ...copy,
      async insertContacts(changes, position) {
        if (changes.some(({ contactId }) => contactId === 'late'))
          await records.eraseContacts(erasure(ORGANIZATION, 'era_2', ['late'], []));
        await copy.insertContacts(changes, position);
        expect(await ids()).not.to.include('late');
        expect(await readableInTables('late')).to.deep.equal([]);
      },
    });
    await slow.run();
    expect(await ids()).not.to.include('late');
  });

  it('makes a new copy when the position has expired, and the former copy is read until then', async () => {
    const expired: ChangePosition = { epoch: 'another', after: [1], start: [0] };
    await copy.insertContacts([{ organizationId: ORGANIZATION, contactId: 'bob', contact: null }], {
      ...{ version: Date.now() + 60_000, contacts: expired },
      ...{ audiences: '', visits: 0, followedAt: 0 },
    });
    expect(await ids()).to.deep.equal(['ann', 'other']);
    const during: unknown[] = [];
    const watched = newFollower({
      ...copy,
      async begin(made) {
        const next = await copy.begin(made);
        return {
          ...next,
          async swap() {
            during.push(await ids());
            await next.swap();
          },
        };
      },
    });
    await watched.run();
    expect(during).to.deep.equal([['ann', 'other']]);
    expect(await ids()).to.deep.equal(['ann', 'bob', 'other']);
    expect(await tables()).to.deep.equal([]);
  });

  it('copies all contacts when a process starts, if the feed does not name deleted contacts', async () => {
    for (const keepsMarks of [true, false]) {
      let copies = 0;
      const watched: SqlCopy = {
        ...copy,
        begin(made) {
          if (made.includes('contacts')) copies++;
          return copy.begin(made);
        },
      };
      const copied = { ...records.copied, keepsMarks, hasErasedSince: async () => false };
      const started = new SqlFollower({
        records: { ...records, copied },
        copies: [watched],
        clock: systemClock,
      });
      await started.run();
      await started.run();
      expect(copies).to.equal(keepsMarks ? 0 : 1);
    }
  });

  it('shows no contact until the new copy if a restored data folder has adopted erasures', async () => {
    const [position] = (await allCopies([copy]).readPositions()) as [ChangePosition];
    const cleared: unknown[] = [];
    const restored = {
      ...records,
      copied: {
        ...records.copied,
        noteCopy: async () => undefined,
        hasErasedSince: async () => cleared.length === 0,
      },
      readChanges: async (request: ChangesRequest, signal?: AbortSignal) =>
        typeof request.after === 'object' && request.after.epoch === position.epoch && cleared.length === 0
          ? { kind: 'expired' as const, numbering: { epoch: 'another', secret: '' } }
          : records.readChanges(request, signal),
    };
    const watched = {
      ...copy,
      async clearContacts() {
        await copy.clearContacts();
        cleared.push(await ids());
      },
    };
    await new SqlFollower({ records: restored, copies: [watched], clock: systemClock }).run();
    expect(cleared).to.deep.equal([[]]);
    expect(await ids()).to.deep.equal(['ann', 'bob', 'other']);
  });

  it('writes at most 16 MiB of contacts at once, besides one page', async () => {
    const big = 'x'.repeat(10_000);
    const changes = Array.from({ length: 1000 }, (_, index) => ({
      organizationId: ORGANIZATION,
      contactId: String(index),
      contact: big as Json<Contact>,
    }));
    const next = { epoch: 'big', after: [1], start: [1] };
    let pages = 4;
    const numbering = { epoch: 'big', secret: '' };
    const readChanges = async () => ({
      kind: 'page' as const,
      numbering,
      changes,
      next,
      more: --pages > 0,
    });
    const written: number[] = [];
    const insertContacts = async (inserted: readonly unknown[]) => void written.push(inserted.length);
    const copies = [{ ...copy, insertContacts, dropAbandoned: async () => undefined }];
    const copied = { ...records.copied, hasErasedSince: async () => false };
    await new SqlFollower({ records: { ...records, copied, readChanges }, copies, clock: systemClock }).run();
    expect(written.slice(0, 2)).to.deep.equal([2000, 2000]);
  });

  it('writes audiences at most a fifth of the time, and does not claim to have followed meanwhile', async () => {
    let begun = 0;
    const slow = newFollower({
      ...copy,
      async begin(made) {
        begun++;
        await sleep(1000);
        return copy.begin(made);
      },
    });
    await write('audiences', [{ id: 'a', name: 'first' }]);
    await slow.run(undefined, true);
    const followedAt = await slow.followedAt();
    await write('audiences', [{ id: 'a', name: 'second' }]);
    await slow.run(undefined, true);
    expect(begun).to.equal(1);
    expect(await slow.followedAt()).to.equal(followedAt);
    await slow.run();
    expect((await rows('audiences')).map(({ name }) => name)).to.deep.equal(['second']);
  });

  it('ends right whatever step it is killed at, while it follows and while it makes a new copy', async () => {
    /** Fails after the nth step, as do all later ones. */
    const dying = (nth: number): SqlCopy => {
      let left = nth;
      const step =
        <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
        async (...args: Args): Promise<T> => {
          left--;
          if (left < 0) throw KILLED;
          const result = await work(...args);
          if (left === 0) throw KILLED;
          return result;
        };
      const stepped = (made: NewTables): NewTables => ({
        insertContacts: step(made.insertContacts),
        insertAudiences: step(made.insertAudiences),
        insertVisits: step(made.insertVisits),
        swap: step(made.swap),
        drop: step(made.drop),
      });
      return {
        ...copy,
        readPosition: step(copy.readPosition),
        insertContacts: step(copy.insertContacts),
        insertVisits: step(copy.insertVisits),
        dropAbandoned: step(copy.dropAbandoned),
        begin: step(async (made) => stepped(await copy.begin(made))),
      };
    };
    // As if an erasure were waiting, which makes a new copy.
    const copied = { ...records.copied, hasErasedSince: async () => true };
    let outcome: unknown;
    for (let nth = 1; outcome !== 'done'; nth++) {
      await write('contacts', [
        { contact_id: 'ann', city: String(nth) },
        { contact_id: `gone-${nth - 1}`, deleted: true },
        { contact_id: `gone-${nth}` },
      ]);
      await write('audiences', [{ id: 'a', name: String(nth) }]);
      await write('website-visits', [visit(String(nth), '2026-05-02T00:00:00Z')]);
      outcome = await new SqlFollower({
        records: { ...records, copied },
        copies: [dying(nth)],
        clock: systemClock,
      })
        .run()
        .then(
          () => 'done',
          (error: Error) => error,
        );
      if (outcome !== 'done') expect(outcome).to.equal(KILLED);
      await newFollower().run();
      expect((await rows('contacts'))[0]).to.include({ contact_id: 'ann', city: String(nth) });
      expect(await ids()).to.deep.equal(['ann', 'bob', `gone-${nth}`, 'other']);
      expect((await rows('audiences')).map(({ name }) => name)).to.deep.equal([String(nth)]);
      expect(
        (await rows('website_visits')).filter(({ visit_id }) => visit_id === String(nth)),
      ).to.have.length(1);
      expect(await tables()).to.deep.equal([]);
    }
  });
}
