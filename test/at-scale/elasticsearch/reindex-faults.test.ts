import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import type { SearchStore } from '../../../services/stores/common/search-store.js';
import type { Resource } from '../../../services/stores/elasticsearch/migrations/indices.js';
import { migrateElasticsearch } from '../../../services/stores/elasticsearch/migrations/migrate.js';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { allPages, asked, newContact, T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { type Fate, gate, type HttpProxy, type ProxiedRequest, startHttpProxy } from './http-proxy.js';
import { type TestIndices, testIndices } from './support.js';

const ORGANIZATION = 'org_reindexed';
const LOADED = 300;
const REQUESTS_PER_SECOND = 60;
/** Longer than any lease, shorter than a key is kept. */
const AFTER_LEASES_MS = 60_000;

/** A request of a reindex without the names of its indices: `PUT target/_block/write`. */
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
  let store: SearchStore;
  let proxy: HttpProxy;
  let traffic: Traffic;
  const clock = { skipped: 0, now: () => Date.now() + clock.skipped };

  before(async () => {
    indices = testIndices();
    client = new Client({ nodes: indices.config.nodes });
    proxy = await startHttpProxy(indices.config);
    store = await openElasticsearchStore(indices.config, { clock, recoveryIntervalMs: 300 });
    traffic = await Traffic.start(store);
  });
  beforeEach(() => {
    proxy.decide = () => 'pass';
  });
  after(async () => {
    await traffic?.stop();
    await store?.close();
    await proxy?.close();
    await client?.close();
    await indices?.remove();
  });

  const migrate = (resource: Resource, config = proxy.config) =>
    migrateElasticsearch(config, { rebuilt: [resource], clock });
  const behind = async (resource: Resource) =>
    Object.keys(await client.indices.getAlias({ name: `${indices.config.indexPrefix}-${resource}` }));

  /** Resolves once nothing of a reindex is left: no lock, no second index, no block. */
  async function recovered(resource: Resource): Promise<void> {
    const alias = `${indices.config.indexPrefix}-${resource}`;
    for (const end = Date.now() + 30_000; ; await pause(100)) {
      const found = await client.indices.get({ index: `${alias}-v*`, features: ['settings', 'aliases'] });
      const left = Object.entries(found).filter(
        ([, { settings, aliases }]) => !aliases?.[alias] || settings?.index?.blocks?.write !== undefined,
      );
      if (left.length === 0 && Object.keys(found).length === 1) return;
      if (Date.now() > end) throw new Error(`left behind: ${JSON.stringify(found)}`);
    }
  }

  /** Runs one to its end, and tells the steps it is made of. */
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
    it(`loses nothing of ${resource}, whichever step its process dies at, under creates, updates and deletes`, async () => {
      const steps = await stepsOf(resource);
      expect(steps).to.include.members([
        `PUT ${resource}/_block/write`,
        'POST _aliases',
        `DELETE ${resource}`,
      ]);
      await traffic.verify();
      for (const step of steps) {
        const isRead = /^(GET|HEAD)|_(search|count|refresh|mget|health)$/.test(step);
        for (const fate of isRead ? (['cut'] as const) : (['cut', 'cut answer'] as const)) {
          let died = false;
          proxy.decide = (request) => {
            if (died) return 'cut';
            died = stepOf(request, indices.config.indexPrefix) === step;
            return died ? fate : 'pass';
          };
          const outcome = await migrate(resource).then(
            () => 'finished',
            (error: Error) => error.name,
          );
          expect(died, `${step} was reached`).to.equal(true);
          expect(outcome, step).to.be.oneOf(['StoreUnavailableError', 'finished']);
          clock.skipped += AFTER_LEASES_MS;
          await recovered(resource);
          await traffic.verify(`${fate} at ${step}`);
        }
      }
      proxy.decide = () => 'pass';
      const [before] = await behind(resource);
      await migrate(resource);
      expect(await behind(resource)).to.not.include(before);
      await traffic.verify();
    }).timeout(900_000);
  }

  it('blocks writes before the last copy, also where the cluster did not acknowledge the block at first', async () => {
    let refused = 0;
    let late: Promise<void> | undefined;
    proxy.decide = async (request): Promise<Fate> => {
      const step = stepOf(request, indices.config.indexPrefix);
      if (step === 'PUT contacts/_block/write' && refused++ === 0) {
        return { answer: { acknowledged: false, shards_acknowledged: false, indices: [] } };
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
    expect(refused).to.equal(2);
    await late;
    expect((await store.getContact(ORGANIZATION, 'late'))?.first_name).to.equal('Late');
    await traffic.verify();
  }).timeout(120_000);

  for (const forwarded of [false, true]) {
    it(`deletes no index while the move of the alias is not acknowledged, ${forwarded ? 'though done' : 'as it was not done'}`, async () => {
      let refused = 0;
      proxy.decide = (request) =>
        stepOf(request, indices.config.indexPrefix) === 'POST _aliases' && refused++ === 0
          ? { answer: { acknowledged: false }, forwarded }
          : 'pass';
      const [made] = await migrate('contacts');
      expect(refused).to.be.greaterThan(1);
      expect(await behind('contacts')).to.deep.equal([made]);
      await traffic.verify();
    }).timeout(120_000);
  }

  for (const step of ['PUT contacts/_block/write', 'POST _aliases', 'DELETE contacts']) {
    it(`changes nothing when its process stood still at ${step} while another reindexed`, async () => {
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
      const made = await migrate('contacts', indices.config);
      held.open();
      await late;
      expect(await behind('contacts')).to.deep.equal(made);
      await recovered('contacts');
      await traffic.verify();
    }).timeout(120_000);
  }

  it('leaves no block behind that lands after another process has rolled it back', async () => {
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

/** Creates, changes, joins, leaves and retries at a steady rate, and remembers what was acknowledged. */
class Traffic {
  readonly #store: SearchStore;
  readonly #created = new Set<string>();
  readonly #cities = new Map<string, string>();
  readonly #members = new Map<string, boolean>();
  /** Requests whose outcome was kept, and is repeated. */
  readonly #kept = new Map<string, () => Promise<unknown>>();
  readonly #errors: string[] = [];
  readonly #open = new Set<Promise<void>>();
  #running: Promise<void> = Promise.resolve();
  #paused = false;
  #number = 0;

  private constructor(store: SearchStore) {
    this.#store = store;
  }

  static async start(store: SearchStore): Promise<Traffic> {
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

  /** Stands still, compares all that was acknowledged with what is there, and goes on. */
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
    for (const [key, repeat] of [...this.#kept].slice(-20)) {
      expect(await repeat(), `${when}: the answer kept for ${key}`).to.deep.include({ replayed: true });
    }
    this.#resume();
  }

  async #one(number: number): Promise<void> {
    // A contact of its own for every kind of request, and one request at a time for each contact.
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
        const made = await create();
        if (made.kind !== 'done' || made.value.kind !== 'created') throw new Error(JSON.stringify(made));
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
        // Its key is free again, as nothing was done.
        const missing = { ...membership, audienceId: 'missing', idempotency };
        const refused = await this.#store.addMembership(missing);
        if (refused.kind !== 'done' || refused.value.kind !== 'audience_not_found') {
          throw new Error(JSON.stringify(refused));
        }
      }
    }
  }
}
