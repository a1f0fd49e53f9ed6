import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import type { Resource } from '../../../services/stores/elasticsearch/migrations/indices.js';
import { migrateElasticsearch } from '../../../services/stores/elasticsearch/migrations/migrate.js';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { allPages, asked, newContact, T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { type Fate, gate, type HttpProxy, type ProxiedRequest, startHttpProxy } from './http-proxy.js';
import { type TestIndices, testIndices } from './support.js';

const ORGANIZATION = 'org_reindexed';
const LOADED = 300;
const REQUESTS_PER_SECOND = 60;
/** Longer than any lease, shorter than idempotency keys are kept. */
const AFTER_LEASES_MS = 60_000;

/** A request of a reindex with the resource in place of the index: `PUT contacts/_block/write`. */
function stepOf({ method, path }: ProxiedRequest, prefix: string): string {
  const [plain = ''] = path.split('?');
  const parts = decodeURIComponent(plain)
    .split('/')
    .map((part) => (part.startsWith(prefix) ? part.slice(prefix.length + 1).replace(/-v\d+-.*$/, '') : part));
  return `${method} ${parts.slice(1).join('/')}`;
}

describe('A reindex that fails', () => {
  let indices: TestIndices;
  let client: Client;
  let store: ParsedStore;
  const proxies: HttpProxy[] = [];
  let proxy: HttpProxy;
  let traffic: Traffic;
  const clock = { skipped: 0, now: () => Date.now() + clock.skipped };

  before(async () => {
    indices = testIndices();
    client = new Client({ nodes: indices.config.nodes });
    proxy = await startProxy();
    store = parsed(
      await openElasticsearchStore(indices.config, { clock, recoveryIntervalMs: 100, refreshIntervalMs: 0 }),
    );
    traffic = await Traffic.start(store);
  });
  beforeEach(() => {
    proxy.decide = () => 'pass';
  });
  after(async () => {
    await traffic?.stop();
    await store?.close();
    await Promise.all(proxies.map((each) => each.close()));
    await client?.close();
    await indices?.remove();
  });

  async function startProxy(): Promise<HttpProxy> {
    const started = await startHttpProxy(indices.config);
    proxies.push(started);
    return started;
  }
  const migrate = (resource: Resource, config = proxy.config) =>
    migrateElasticsearch(config, { reindexed: [resource], clock });
  const behind = async (resource: Resource) =>
    Object.keys(await client.indices.getAlias({ name: `${indices.config.indexPrefix}-${resource}` }));

  /** Resolves once a reindex has left no second index and no write block. */
  async function recovered(resource: Resource): Promise<void> {
    const alias = `${indices.config.indexPrefix}-${resource}`;
    for (const end = Date.now() + 30_000; ; await pause(50)) {
      const found = await client.indices.get({ index: `${alias}-v*`, features: ['settings', 'aliases'] });
      const left = Object.entries(found).filter(
        ([, { settings, aliases }]) => !aliases?.[alias] || settings?.index?.blocks?.write !== undefined,
      );
      if (left.length === 0 && Object.keys(found).length === 1) return;
      if (Date.now() > end) throw new Error(`left behind: ${JSON.stringify(found)}`);
    }
  }

  /** Lets no request through from `step` on; resolves when that one is over, so that nothing of the process is on its way. */
  function dieAt(network: HttpProxy, step: string, fate: Fate): Promise<'died'> {
    return new Promise((resolve) => {
      let isDead = false;
      network.decide = (request) => {
        if (isDead) return 'cut';
        isDead = stepOf(request, indices.config.indexPrefix) === step;
        if (!isDead) return 'pass';
        request.closed.then(() => resolve('died'));
        return fate;
      };
    });
  }

  /** The distinct requests of a reindex that finishes. */
  async function stepsOf(resource: Resource): Promise<string[]> {
    const steps = new Set<string>();
    proxy.decide = (request) => {
      steps.add(stepOf(request, indices.config.indexPrefix));
      return 'pass';
    };
    await migrate(resource);
    return [...steps];
  }

  for (const resource of ['contacts', 'idempotency'] as const) {
    it(`loses nothing of ${resource} under creates, updates and removals, whichever step the process of a reindex dies at`, async () => {
      const steps = await stepsOf(resource);
      expect(steps).to.include.members([
        `PUT ${resource}/_block/write`,
        'POST _aliases',
        `DELETE ${resource}`,
      ]);
      await traffic.verify();
      const outcomes: Promise<string>[] = [];
      for (const step of steps) {
        const isRead = /^(GET|HEAD)|_(search|count|refresh|mget|health)$/.test(step);
        for (const fate of isRead ? (['cut'] as const) : (['cut', 'cut response'] as const)) {
          const dying = await startProxy();
          const died = dieAt(dying, step, fate);
          const outcome = migrate(resource, dying.config).then(
            () => 'finished',
            (error: Error) => error.name,
          );
          outcomes.push(outcome);
          // The retries of a dead process go nowhere, so nothing waits for them.
          expect(await Promise.race([died, outcome]), `${step} was reached`).to.equal('died');
          // Except once the alias has moved: requests that read the old index drain before any lease expires.
          if (step.startsWith('DELETE') || (step === 'POST _aliases' && fate !== 'cut')) await outcome;
          clock.skipped += AFTER_LEASES_MS;
          await recovered(resource);
          await traffic.verify(`${fate} at ${step}`);
        }
      }
      for (const outcome of await Promise.all(outcomes)) {
        expect(outcome).to.be.oneOf(['StoreUnavailableError', 'finished']);
      }
      proxy.decide = () => 'pass';
      const [before] = await behind(resource);
      await migrate(resource);
      expect(await behind(resource)).to.not.include(before);
      await traffic.verify();
    }).timeout(900_000);
  }

  it('blocks writes before the final pass, also when the cluster did not acknowledge the block at first', async () => {
    let rejected = 0;
    let late: Promise<void> | undefined;
    proxy.decide = async (request): Promise<Fate> => {
      const step = stepOf(request, indices.config.indexPrefix);
      if (step === 'PUT contacts/_block/write' && rejected++ === 0) {
        return { response: { acknowledged: false, shards_acknowledged: false, indices: [] } };
      }
      if (step === 'POST _aliases' && !late) {
        late = store.upsertContacts(
          accepted([{ organization_id: ORGANIZATION, contact_id: 'late', first_name: 'Late' }], clock.now()),
        );
        await Promise.race([late, pause(1000)]);
      }
      return 'pass';
    };
    await migrate('contacts');
    expect(rejected).to.equal(2);
    await late;
    expect((await store.getContact(ORGANIZATION, 'late'))?.first_name).to.equal('Late');
    await traffic.verify();
  }).timeout(120_000);

  for (const forwarded of [false, true]) {
    it(`keeps the old index until the cluster acknowledges the move of the alias, ${forwarded ? 'which was done' : 'which was not done'} at first`, async () => {
      let rejected = 0;
      proxy.decide = (request) =>
        stepOf(request, indices.config.indexPrefix) === 'POST _aliases' && rejected++ === 0
          ? { response: { acknowledged: false }, forwarded }
          : 'pass';
      const [target] = await migrate('contacts');
      expect(rejected).to.be.greaterThan(1);
      expect(await behind('contacts')).to.deep.equal([target]);
      await traffic.verify();
    }).timeout(120_000);
  }

  for (const step of ['PUT contacts/_block/write', 'POST _aliases', 'DELETE contacts']) {
    it(`changes nothing after a process was suspended at ${step} while another reindexed`, async () => {
      const held = gate();
      proxy.decide = async (request): Promise<Fate> => {
        if (stepOf(request, indices.config.indexPrefix) === step) await held.wait();
        return 'pass';
      };
      const late = migrate('contacts').then(
        () => null,
        (error: Error) => error,
      );
      await held.reached;
      clock.skipped += AFTER_LEASES_MS;
      const targets = await migrate('contacts', indices.config);
      held.open();
      await late;
      expect(await behind('contacts')).to.deep.equal(targets);
      await recovered('contacts');
      await traffic.verify();
    }).timeout(120_000);
  }

  it('lifts a write block that is set after another process has rolled back', async () => {
    const held = gate();
    proxy.decide = async (request): Promise<Fate> => {
      if (stepOf(request, indices.config.indexPrefix) === 'PUT contacts/_block/write') await held.wait();
      return 'pass';
    };
    const late = migrate('contacts').then(
      () => null,
      (error: Error) => error,
    );
    await held.reached;
    clock.skipped += AFTER_LEASES_MS;
    await recovered('contacts');
    held.open();
    expect(await late).to.be.instanceOf(Error);
    await recovered('contacts');
    await traffic.verify();
  }).timeout(120_000);
});

/** Creates, updates, adds, removes and retries at a constant rate, and records what was acknowledged. */
class Traffic {
  readonly #store: ParsedStore;
  readonly #created = new Set<string>();
  readonly #cities = new Map<string, string>();
  readonly #members = new Map<string, boolean>();
  /** Requests whose outcome is kept, by idempotency key. */
  readonly #kept = new Map<string, () => Promise<unknown>>();
  readonly #errors: string[] = [];
  readonly #open = new Set<Promise<void>>();
  #running: Promise<void> = Promise.resolve();
  #paused = false;
  #number = 0;

  private constructor(store: ParsedStore) {
    this.#store = store;
  }

  static async start(store: ParsedStore): Promise<Traffic> {
    const traffic = new Traffic(store);
    await store.upsertAudiences(
      accepted([{ organization_id: ORGANIZATION, id: 'aud', name: 'Audience' }], T0),
    );
    await store.upsertContacts(
      accepted(
        Array.from({ length: LOADED }, (_, index) => ({
          organization_id: ORGANIZATION,
          contact_id: `loaded_${index}`,
          first_name: 'Loaded',
        })),
        T0,
      ),
    );
    traffic.#resume();
    return traffic;
  }

  #resume(): void {
    this.#paused = false;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const first = this.#number;
    const begun = performance.now();
    while (!this.#paused) {
      while (this.#number - first < ((performance.now() - begun) / 1000) * REQUESTS_PER_SECOND) {
        const number = this.#number++;
        const request = this.#one(number)
          .catch((error: Error) => void this.#errors.push(`${number}: ${error.message}: ${error.cause}`))
          .finally(() => this.#open.delete(request));
        this.#open.add(request);
      }
      await pause(10);
    }
    await Promise.all(this.#open);
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
    // Each kind of request has its own contacts, with one request at a time per contact.
    const id = `loaded_${number % LOADED}`;
    const membership = { organizationId: ORGANIZATION, audienceId: 'aud', contactId: id };
    const idempotency = { route: 'test', key: `k${number}`, fingerprint: 'f' };
    switch (number % 5) {
      case 0: {
        const create = () =>
          this.#store.createContact({
            contact: newContact(ORGANIZATION, `c${number}`, { work_emails: [`p${number}@x.example`] }),
            audienceId: 'aud',
            requiredCredits: 1,
            onDuplicate: 'reject',
            dryRun: false,
            idempotency,
          });
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
        // Writes nothing, so its key is released.
        const missing = { ...membership, audienceId: 'missing', idempotency };
        const rejected = await this.#store.addMembership(missing);
        if (rejected.kind !== 'done' || rejected.value.kind !== 'audience_not_found') {
          throw new Error(JSON.stringify(rejected));
        }
      }
    }
  }
}
