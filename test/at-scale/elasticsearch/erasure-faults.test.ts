import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { fromJson } from '../../../services/shared/json.js';
import { PartialWriteError } from '../../../services/shared/store-errors.js';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import {
  creation,
  deferred,
  erasure,
  freshOrganization,
  load,
  loadAudiences,
} from '../../contract/record-store-support.js';
import { accepted } from '../../support/accepted.js';
import { gate, type HttpProxy, type ProxiedRequest, startHttpProxy } from './http-proxy.js';
import { openStore, testIndices } from './support.js';

describe('An erasure on Elasticsearch with faults', function () {
  this.timeout(180_000);
  const indices = testIndices();
  let proxy: HttpProxy;
  /** A store behind the proxy, without a recovery job. */
  let store: RecordStore;
  before(async () => {
    proxy = await startHttpProxy(indices.config);
    store = await openStore(proxy.config, { recoveryIntervalMs: 3_600_000 });
  });
  /** Stores that a test opened. They end with it, because their completions and merges would affect the next test. */
  const opened: RecordStore[] = [];
  beforeEach(() => {
    proxy.decide = () => 'pass';
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
  });
  after(() => {
    proxy.decide = () => 'pass';
  });

  const create = async (from: RecordStore, organizationId: string, key: string, email: string) => {
    const idempotency = { route: 'create', key, fingerprint: 'f' };
    const result = await from.createContact(
      creation(organizationId, `by_${key}`, { personal_emails: [email] }, { idempotency }),
    );
    return 'value' in result ? result.value.kind : result.kind;
  };
  const erase = (organizationId: string, email: string, contactIds: string[] = []) =>
    store.eraseContacts(
      erasure(organizationId, `era_${organizationId}`, contactIds, [{ kind: 'email', value: email }]),
    );
  async function withAudience(): Promise<string> {
    const organizationId = freshOrganization();
    await loadAudiences(store, organizationId, 'aud');
    return organizationId;
  }
  async function isComplete(from: RecordStore, organizationId: string): Promise<boolean> {
    const { items } = await from.listErasures({ organizationId, limit: 1 });
    return items.every((proof) => fromJson(proof).completed_at !== null);
  }
  async function open(...args: Parameters<typeof openStore>): Promise<RecordStore> {
    const another = await openStore(...args);
    opened.push(another);
    return another;
  }
  /** A process that takes over the work of other processes at once. */
  const openSurvivor = () =>
    open(indices.config, { recoveryIntervalMs: 100, expungeIntervalMs: 500, takeoverMs: 0 });
  /** Completes the work of this process with another process. */
  async function recover(organizationId: string): Promise<RecordStore> {
    const survivor = await openSurvivor();
    while (!(await isComplete(survivor, organizationId))) await pause(100);
    return survivor;
  }
  const isOf = (resource: string, { path }: ProxiedRequest) =>
    path.includes(`${indices.config.indexPrefix}-${resource}`);

  it('keeps no answer that was stored only after it had looked for them', async () => {
    const organizationId = await withAudience();
    const email = 'late@answers.example';
    const { reached, wait, open } = gate();
    proxy.decide = async (request) => {
      if (isOf('idempotency', request) && request.body.includes('"kind":"created"')) await wait();
      return 'pass' as const;
    };
    const creating = create(store, organizationId, 'k', email);
    await reached;
    expect((await erase(organizationId, email, ['by_k'])).erased).to.deep.equal(['by_k']);
    open();
    expect(await creating).to.equal('created');
    expect(await create(store, organizationId, 'k', email)).to.equal('contact_suppressed');
  });

  it('reads the answers that show the person, and no others', async () => {
    const organizationId = await withAudience();
    const other = await withAudience();
    await create(store, organizationId, 'mine', 'mine@answers.example');
    await create(store, organizationId, 'free', 'free@answers.example');
    await create(store, other, 'theirs', 'mine@answers.example');
    const searches: string[] = [];
    proxy.decide = (request) => {
      if (isOf('idempotency', request) && request.path.includes('_search')) searches.push(request.body);
      return 'pass';
    };
    const { proof } = await erase(organizationId, 'mine@answers.example', ['by_mine']);
    expect(proof.removed.idempotency_answers).to.equal(1);
    expect(searches).not.to.have.length(0);
    for (const body of searches) expect(body).to.contain(organizationId).and.contain('by_mine');
    expect(await create(store, organizationId, 'free', 'free@answers.example')).to.equal('created');
    expect(await create(store, other, 'theirs', 'mine@answers.example')).to.equal('created');
  });

  it('forgets the answers of a person that it had yet to look for when the process died', async () => {
    const organizationId = await withAudience();
    const email = 'died@answers.example';
    await create(store, organizationId, 'k', email);
    proxy.decide = (request) =>
      isOf('idempotency', request) && request.path.includes('_search') ? 'cut' : 'pass';
    expect(await erase(organizationId, email, ['by_k']).catch((error: unknown) => error)).to.be.instanceOf(
      Error,
    );
    const survivor = await recover(organizationId);
    expect(await survivor.getContact(organizationId, 'by_k')).to.equal(null);
    expect(await create(survivor, organizationId, 'k', email)).to.equal('contact_suppressed');
  });

  it('keeps a person out that nobody had stored when the process died', async () => {
    const organizationId = freshOrganization();
    const email = 'nobody@answers.example';
    await load(store, organizationId, [{ contact_id: 'other', first_name: 'Ann' }]);
    // The journal is the first document; the list comes later.
    proxy.decide = (request) =>
      isOf('erasures', request) && request.path.includes('_bulk') ? 'cut' : 'pass';
    expect(await erase(organizationId, email).catch((error: unknown) => error)).to.be.instanceOf(Error);
    const survivor = await recover(organizationId);
    const record = { organization_id: organizationId, contact_id: 'again', work_emails: [email] };
    const rejection = await survivor.upsertContacts(accepted([record], 1)).catch((error: unknown) => error);
    expect(rejection).to.be.instanceOf(PartialWriteError);
  });

  it('is carried out with its proof or never began, before whichever of its writes the process died', async () => {
    const contactIds = ['one', 'two', 'three'];
    const emailOf = (organizationId: string) => `shared.${organizationId}@died.example`;
    // The first erasure of all also writes the secret of the hashes.
    const first = freshOrganization();
    await erase(first, emailOf(first));
    const died: string[] = [];
    for (let allowed = 0, isDead = true; isDead; allowed++) {
      proxy.decide = () => 'pass';
      const organizationId = freshOrganization();
      const email = emailOf(organizationId);
      await load(
        store,
        organizationId,
        contactIds.map((contact_id) => ({ contact_id, work_emails: [email] })),
      );
      let writes = 0;
      proxy.decide = (request) => {
        if (/_(bulk|create|doc|update)/.test(request.path) && request.method !== 'GET') writes++;
        return writes <= allowed ? 'pass' : 'cut';
      };
      const outcome = await erase(organizationId, email).catch((error: unknown) => error);
      isDead = outcome instanceof Error;
      if (isDead) died.push(organizationId);
    }
    proxy.decide = () => 'pass';
    expect(died).to.have.length.above(4);
    const survivor = await open(indices.config, { recoveryIntervalMs: 3_600_000, refreshIntervalMs: 0 });
    await survivor.refresh();
    const proofOf = async (organizationId: string) => {
      const { items } = await survivor.listErasures({ organizationId, limit: 1 });
      return items[0] && fromJson(items[0]);
    };
    const begun = new Set<string>();
    for (const organizationId of died) {
      const proof = await proofOf(organizationId);
      if (!proof) continue;
      expect(proof.completed_at).to.equal(null);
      begun.add(organizationId);
    }
    expect(begun.size).to.be.above(3);
    const recovering = await openSurvivor();
    for (const [index, organizationId] of died.entries()) {
      const message = `died after ${index} writes`;
      while (!(await isComplete(recovering, organizationId))) await pause(100);
      const hasBegun = begun.has(organizationId);
      for (const id of contactIds)
        expect((await recovering.getContact(organizationId, id)) === null, `${id}, ${message}`).to.equal(
          hasBegun,
        );
      expect((await proofOf(organizationId))?.removed.contacts, message).to.equal(hasBegun ? 3 : undefined);
      const again = {
        organization_id: organizationId,
        contact_id: 'new',
        work_emails: [emailOf(organizationId)],
      };
      const rejection = await recovering
        .upsertContacts(accepted([again], 1))
        .catch((error: unknown) => error);
      expect(rejection instanceof PartialWriteError, message).to.equal(hasBegun);
    }
  });

  it('leaves nobody where another process removes what it has found and not yet read', async () => {
    const organizationId = freshOrganization();
    const email = 'both@processes.example';
    // More people than one step removes.
    const people = Array.from({ length: 150 }, (_, index) => ({
      contact_id: `both_${index}`,
      work_emails: [email],
    }));
    await load(store, organizationId, people);
    const { reached, wait, open: release } = gate();
    let isHeld = false;
    proxy.decide = async (request) => {
      if (!isHeld && isOf('contacts', request) && request.path.includes('_mget')) {
        isHeld = true;
        await wait();
      }
      return 'pass' as const;
    };
    const erasing = erase(organizationId, email);
    await reached;
    let steps = 0;
    const stepped = deferred();
    await open(indices.config, {
      ...{ recoveryIntervalMs: 100, takeoverMs: 0 },
      async beforeJobStep() {
        if (steps++ === 0) return;
        stepped.resolve();
        throw new Error('the process ends here');
      },
    });
    await stepped.promise;
    release();
    await erasing;
    for (const { contact_id } of people)
      expect(await store.getContact(organizationId, contact_id), contact_id).to.equal(null);
  });

  it('merges once a day for all erasures, and waits for no merge', async () => {
    const organizationId = await withAudience();
    const clock = { skippedMs: 0, now: () => Date.now() + clock.skippedMs };
    const merges: string[] = [];
    let looks = 0;
    /** Number of checks for anything to merge. Each check flushes. */
    let checks = 0;
    proxy.decide = (request) => {
      if (request.path.includes('_forcemerge')) merges.push(request.path);
      if (request.path.includes('_flush')) checks++;
      if (request.method === 'GET' && request.path.includes('_doc/expunge')) looks++;
      return 'pass';
    };
    // The force merge of earlier tests may still run.
    const client = indices.client();
    await client.delete(
      { index: `${indices.config.indexPrefix}-erasures`, id: 'expunge' },
      { ignore: [404] },
    );
    const daily = await open(proxy.config, { clock, recoveryIntervalMs: 100 });
    const eraseId = (contactId: string) =>
      daily.eraseContacts(erasure(organizationId, `era_${organizationId}_${contactId}`, [contactId]));
    const pending = async () =>
      (await daily.listErasures({ organizationId, limit: 10 })).items.filter(
        (proof) => fromJson(proof).completed_at === null,
      ).length;
    const completed = async () => {
      while ((await pending()) > 0) {
        // A check that found retained deletions is repeated after a minute. The clock is advanced only after a check: a lock that is being
        // acquired would otherwise expire.
        if (checks > 0 && merges.length === 0) clock.skippedMs += 61_000;
        checks = 0;
        await pause(100);
      }
    };
    /** Lets the process continue its erasures. Both processes continue at once, so that one merge serves both. */
    const takeOver = () => {
      clock.skippedMs += 61_000;
    };
    await load(daily, organizationId, [
      { contact_id: 'one' },
      { contact_id: 'two' },
      { contact_id: 'three' },
    ]);
    await Promise.all([eraseId('one'), eraseId('two')]);
    takeOver();
    await completed();
    expect(merges).to.have.length(1);
    expect(merges[0]).to.contain('wait_for_completion=false');
    await eraseId('three');
    takeOver();
    looks = 0;
    while (looks < 20) await pause(100);
    expect(await pending()).to.equal(1);
    expect(merges).to.have.length(1);
    clock.skippedMs += 24 * 60 * 60 * 1000;
    merges.length = 0;
    await completed();
    expect(merges).to.have.length(1);
  });
});
