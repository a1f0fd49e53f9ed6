import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { ErasureProof } from '../../../services/contacts/erasure-store.js';
import { fromJson } from '../../../services/shared/json.js';
import { PartialWriteError } from '../../../services/shared/store-errors.js';
import { DAY_MS, systemClock } from '../../../services/shared/time.js';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import { Cluster } from '../../../services/stores/elasticsearch/client.js';
import { IndexNames } from '../../../services/stores/elasticsearch/migrations/indices.js';
import {
  acquireReindexLock,
  clearTarget,
  type ReindexLock,
  recordTarget,
} from '../../../services/stores/elasticsearch/migrations/reindex-lock.js';
import {
  asked,
  creation,
  erasure,
  freshOrganization,
  load,
  loadAudiences,
} from '../../contract/record-store-support.js';
import { accepted } from '../../support/accepted.js';
import { filesWith } from '../../support/files.js';
import { until } from '../../support/until.js';
import { openStore, testIndices } from './support.js';

const TRACES = ['quillonxyz', 'vexboroughxyz', 'q.vexxyz@', 'quillvexxyz'];
const person = {
  contact_id: 'person',
  first_name: 'QuillonXyz',
  last_name: 'VexboroughXyz',
  work_emails: ['q.vexxyz@erased.example'],
  network_a_url: 'https://linkedin.com/in/quillvexxyz',
};

describe('An erasure on Elasticsearch', function () {
  this.timeout(180_000);
  const indices = testIndices();
  let store: RecordStore;
  const open = () =>
    openStore(indices.config, { recoveryIntervalMs: 500, expungeIntervalMs: 500, takeoverMs: 5000 });
  before(async () => {
    store = await open();
  });

  it('leaves no byte of a person in the data folder, keeps the person out, and is finished by another process', async () => {
    const organizationId = freshOrganization();
    await loadAudiences(store, organizationId, 'aud');
    const others = Array.from({ length: 300 }, (_, index) => ({
      contact_id: `other_${index}`,
      first_name: 'Ann',
    }));
    await load(store, organizationId, [...others, person]);
    await load(store, organizationId, [{ ...person, city: 'Oslo' }]);
    const made = { personal_emails: person.work_emails, first_name: 'QuillonXyz' };
    const idempotency = { route: 'create', key: 'k', fingerprint: 'f' };
    const created = await store.createContact(creation(organizationId, 'made', made, { idempotency }));
    expect(created).to.have.nested.property('value.kind', 'created');
    const folder = process.env.TEST_ELASTICSEARCH_FOLDER;
    const files = () => (folder === undefined ? [] : filesWith(join(folder, 'data'), TRACES));
    if (folder !== undefined) expect(files()).not.to.have.length(0);

    const { erased, related, proof } = await erase(organizationId, 'era_1', 'q.vexxyz@erased.example', [
      'person',
      'made',
    ]);
    expect(erased).to.have.members(['person', 'made']);
    expect(related).to.deep.equal([]);
    expect(proof.removed).to.deep.equal({
      contacts: 2,
      memberships: 1,
      idempotency_answers: 1,
      rejections: 0,
    });
    expect(await store.getContact(organizationId, 'person')).to.equal(null);
    // Pretend that this process has died.
    await store.close();
    store = await open();
    const again = await load(store, organizationId, [person]).catch((error: unknown) => error);
    expect(again).to.be.instanceOf(PartialWriteError);

    // Other records change all the time, and leave deleted documents behind.
    let writing = true;
    const writes = (async () => {
      for (let age = 1; writing; age++) {
        const other = { organization_id: organizationId, contact_id: 'other_0', age: age % 100 };
        await store.upsertContacts(accepted([other], Date.now()));
        await pause(100);
      }
    })();
    const completed = async (): Promise<ErasureProof> => {
      for (;;) {
        const { items } = await store.listErasures({ organizationId, limit: 1 });
        const [found] = items.map((proof) => fromJson(proof));
        if (found?.completed_at) return found;
        await pause(500);
      }
    };
    expect((await completed()).hashes).to.have.length(4);
    writing = false;
    await writes;
    expect(files()).to.deep.equal([]);
    expect(await store.getContact(organizationId, 'person')).to.equal(null);
  });

  it('leaves no byte of the id once the feed of changes no longer has its mark', async () => {
    const organizationId = freshOrganization();
    const contactId = 'quorvaxmark';
    const clock = { now: Date.now };
    const own = testIndices();
    const options = { recoveryIntervalMs: 500, expungeIntervalMs: 500, takeoverMs: 500, clock };
    const marked = await openStore(own.config, options);
    const folder = process.env.TEST_ELASTICSEARCH_FOLDER;
    const files = () => (folder === undefined ? [] : filesWith(join(folder, 'data'), [contactId]));
    await load(marked, organizationId, [{ contact_id: contactId }, { contact_id: 'other' }]);
    const first = await marked.readChanges({ organizationId, after: 'now', limit: 1 });
    if (first.kind !== 'page') throw new Error(first.kind);
    await marked.eraseContacts(erasure(organizationId, 'era_mark', [contactId], []));
    await until(
      async () => {
        const { items } = await marked.listErasures({ organizationId, limit: 1 });
        return !items[0]?.includes('"completed_at":null');
      },
      'the proof is complete',
      { timeoutMs: 60_000 },
    );
    await marked.deleteOldMarks();
    const page = await marked.readChanges({ organizationId, after: first.next, limit: 10 });
    expect(page.kind === 'page' && page.changes.map((change) => change.contactId)).to.include(contactId);
    if (folder !== undefined) expect(files()).not.to.deep.equal([]);
    const client = own.client();
    const deleted = async () => {
      const index = `${own.config.indexPrefix}-contacts`;
      const { _all } = await client.indices.stats({ index, metric: 'docs' });
      return _all.primaries?.docs?.deleted;
    };
    clock.now = () => Date.now() + 8 * DAY_MS;
    await marked.deleteOldMarks();
    await until(async () => (await deleted()) === 0, 'the deleted mark is dropped', { timeoutMs: 60_000 });
    await until(() => files().length === 0, 'no byte of the id is left', { timeoutMs: 60_000 });
    await marked.close();
  });

  const erase = (organizationId: string, proofId: string, email: string, contactIds: string[] = []) =>
    store.eraseContacts(erasure(organizationId, proofId, contactIds, [{ kind: 'email', value: email }]));

  it('counts the answers it removes where the job of another process is faster', async () => {
    const organizationId = freshOrganization();
    await loadAudiences(store, organizationId, 'aud');
    const other = await openStore(indices.config, { recoveryIntervalMs: 1, takeoverMs: 5000 });
    const counts: number[] = [];
    for (let index = 0; index < 3; index++) {
      const email = `answer${index}@erased.example`;
      const idempotency = { route: 'create', key: `k${index}`, fingerprint: 'f' };
      await store.createContact(
        creation(organizationId, `answer_${index}`, { work_emails: [email] }, { idempotency }),
      );
      const { proof } = await erase(organizationId, `era_answer_${index}`, email, [`answer_${index}`]);
      counts.push(proof.removed.idempotency_answers);
    }
    await other.close();
    expect(counts).to.deep.equal(counts.map(() => 1));
  });

  it('keeps out a batch and a creation that a reindex held while the person was erased', async () => {
    const organizationId = freshOrganization();
    const email = 'held@erased.example';
    await loadAudiences(store, organizationId, 'aud');
    await load(store, organizationId, [{ contact_id: 'stays', first_name: 'Ann' }]);
    await store.setCredits(organizationId, 10);
    const client = indices.client();
    const index = `${indices.config.indexPrefix}-contacts`;
    const block = (isBlocked: boolean) =>
      client.indices.putSettings({ index, settings: { 'index.blocks.write': isBlocked } });
    const cluster = new Cluster(indices.config);
    const names = new IndexNames(indices.config.indexPrefix);
    // The recovery job of the store may hold it.
    let lock: ReindexLock | null = null;
    while (!lock) lock = await acquireReindexLock(cluster, names, systemClock);
    const [blocked = ''] = Object.keys(await client.indices.getAlias({ name: index }));
    await recordTarget(lock, blocked, `${blocked}-next`);
    await block(true);
    const batch = store
      .upsertContacts(
        accepted(
          [
            { organization_id: organizationId, contact_id: 'held', work_emails: [email] },
            { organization_id: organizationId, contact_id: 'free', first_name: 'Bob' },
          ],
          Date.now(),
        ),
      )
      .catch((error: unknown) => error);
    const creating = store.createContact(
      creation(organizationId, 'created', { personal_emails: [email] }, { requiredCredits: 3 }),
    );
    const { erased } = await erase(organizationId, `era_${organizationId}`, email);
    expect(erased).to.deep.equal([]);
    await block(false);
    await clearTarget(lock);
    await lock.release();
    await cluster.close();
    expect(await batch).to.be.instanceOf(PartialWriteError);
    expect(await creating).to.have.nested.property('value.kind', 'contact_suppressed');
    for (const id of ['held', 'created'])
      expect(await store.getContact(organizationId, id), id).to.equal(null);
    expect(await store.getContact(organizationId, 'free')).not.to.equal(null);
    expect(await store.getCredits(organizationId)).to.equal(10);
  });

  it('removes the contact of an erased person that a process left behind, at the latest when its record arrives again', async () => {
    const organizationId = freshOrganization();
    const email = 'left@erased.example';
    await erase(organizationId, `era_${organizationId}`, email);
    // Act like a process that died between its write and its second read.
    const record = { organization_id: organizationId, contact_id: 'left', work_emails: [email] };
    const other = freshOrganization();
    await load(store, other, [{ contact_id: 'left', work_emails: [email] }]);
    const client = indices.client();
    const index = `${indices.config.indexPrefix}-contacts`;
    const { _source } = await client.get({ index, id: `${other}/left`, routing: other });
    const document = JSON.parse(JSON.stringify(_source).replaceAll(other, organizationId));
    await client.index({
      index,
      id: `${organizationId}/left`,
      routing: organizationId,
      document,
      refresh: true,
    });
    expect(await store.getContact(organizationId, 'left')).not.to.equal(null);
    // The last look of the erasure finds it, and after that the record.
    await until(async () => {
      const rejection = await store.upsertContacts(accepted([record], 1)).catch((error: unknown) => error);
      expect(rejection).to.be.instanceOf(PartialWriteError);
      return (await store.getContact(organizationId, 'left')) === null;
    }, 'it is removed');
    expect(await store.getContact(other, 'left')).not.to.equal(null);
  });
});

describe('An erasure of many on Elasticsearch', function () {
  this.timeout(180_000);
  const indices = testIndices();
  let store: RecordStore;
  before(async () => {
    store = await openStore(indices.config);
  });

  it('of a thousand people who share an address leaves none, keeps out all that they had, and lets others write and search', async () => {
    const organizationId = freshOrganization();
    const [shared, withOther] = ['everybody@shared.example', 'both@shared.example'];
    const people = Array.from({ length: 1000 }, (_, index) => ({
      contact_id: `shared_${index}`,
      work_emails: [shared, `own${index}@shared.example`],
      personal_emails: index === 7 ? [withOther] : [],
      network_a_url: `https://linkedin.com/in/shared-${index}`,
    }));
    await load(store, organizationId, people.slice(0, 500));
    await load(store, organizationId, people.slice(500));
    await load(store, organizationId, [{ contact_id: 'stays', work_emails: [withOther] }]);
    const passing = freshOrganization();
    await load(store, passing, [{ contact_id: 'one' }]);
    const everybody = (email?: string) => asked(organizationId, { email, limit: 1 });
    const left = async () => {
      await store.refresh();
      return (await store.searchContacts(everybody(shared))).total;
    };
    let isErased = false;
    const command = erasure(organizationId, `era_${organizationId}`, [], [{ kind: 'email', value: shared }]);
    const erasing = store.eraseContacts(command).finally(() => {
      isErased = true;
    });
    const leftWhileOthersWrote = new Set<number>();
    while (!isErased) {
      await store.upsertContacts(
        accepted([{ organization_id: passing, contact_id: 'one', age: 50 }], Date.now()),
      );
      leftWhileOthersWrote.add((await store.searchContacts(everybody(shared))).total);
    }
    await erasing;
    await until(async () => (await left()) === 0, 'nobody is left', { timeoutMs: 100_000 });
    expect([...leftWhileOthersWrote].filter((total) => total > 0 && total < 1000)).not.to.have.length(0);
    expect((await store.searchContacts(everybody())).total).to.equal(1);
    const proof = async () =>
      fromJson((await store.listErasures({ organizationId, limit: 1 })).items[0] ?? '');
    await until(async () => (await proof()).removed.contacts === 1000, 'all are counted');
    const returning = people.map(({ work_emails: [, own = ''] }, index) => ({
      organization_id: organizationId,
      contact_id: `back_${index}`,
      personal_emails: [index === 7 ? withOther : own],
    }));
    const rejection = await store.upsertContacts(accepted(returning, Date.now())).catch((error) => error);
    expect((rejection as PartialWriteError).rejected.size).to.equal(999);
  });
});
