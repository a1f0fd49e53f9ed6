import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import type { Resource } from '../../../services/stores/elasticsearch/migrations/indices.js';
import {
  type MigrateOptions,
  migrateElasticsearch,
} from '../../../services/stores/elasticsearch/migrations/migrate.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { type Fate, gate, type HttpProxy, type ProxiedRequest, startHttpProxy } from './http-proxy.js';
import { ORGANIZATION, Traffic } from './reindex-traffic.js';
import { openStore, testIndices } from './support.js';

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
  const indices = testIndices();
  let client: Client;
  let store: ParsedStore;
  let proxy: HttpProxy;
  let traffic: Traffic;
  const clock = { skipped: 0, now: () => Date.now() + clock.skipped };

  before(async () => {
    client = indices.client();
    proxy = await startHttpProxy(indices.config);
    store = parsed(await openStore(indices.config, { clock, recoveryIntervalMs: 100, refreshIntervalMs: 0 }));
    traffic = await Traffic.start(store);
  });
  beforeEach(() => {
    proxy.decide = () => 'pass';
  });
  after(() => traffic?.stop());

  /** One attempt, unless it waits for the cluster. */
  const migrate = (resource: Resource, config = proxy.config, options: MigrateOptions = { retries: 0 }) =>
    migrateElasticsearch(config, { reindexed: [resource], clock, ...options });
  const behind = async (resource: Resource) =>
    Object.keys(await client.indices.getAlias({ name: `${indices.config.indexPrefix}-${resource}` }));

  /** Resolves once a reindex has left neither a second index nor a write block. */
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

  /** Blocks all requests from `step` on. Resolves when the step is over, so that no request of the process is in flight. */
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
      const step = stepOf(request, indices.config.indexPrefix);
      // The transport checks which nodes hang only if a request is slow.
      if (!step.includes('_nodes/')) steps.add(step);
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
          const dying = await startHttpProxy(indices.config);
          const died = dieAt(dying, step, fate);
          const outcome = migrate(resource, dying.config).then(
            () => 'finished',
            (error: Error) => error.name,
          );
          outcomes.push(outcome);
          // The retries of a dead process are cut too, and may take long. So the test waits for the death, not for the outcome.
          expect(await Promise.race([died, outcome]), `${step} was reached`).to.equal('died');
          // Once the alias has moved, this does not hold: requests that read the old index end before any lease expires.
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

  it('copies several slices at once, waits for a cluster that is out for seconds, and starts over after longer', async () => {
    for (let number = 0; number < 8; number++) {
      const record = { organization_id: `org_${number}`, contact_id: 'c', first_name: 'Ann' };
      await store.upsertContacts(accepted([record], clock.now()));
    }
    let copying = 0;
    let mostCopying = 0;
    let outUntil = 0;
    /** Retries that began before the long outage, and all retries. */
    let retriesBefore: number | undefined;
    let retries = 0;
    const outagesMs = new Map([
      ['POST contacts/_search', 3000],
      ['PUT contacts/_block/write', 12_000],
    ]);
    proxy.decide = async (request): Promise<Fate> => {
      const step = stepOf(request, indices.config.indexPrefix);
      if (step === 'POST contacts/_search') {
        mostCopying = Math.max(mostCopying, ++copying);
        request.closed.then(() => copying--);
        await pause(100);
      }
      const outageMs = outagesMs.get(step);
      if (outageMs !== undefined) {
        outagesMs.delete(step);
        if (outagesMs.size === 0) retriesBefore = retries;
        outUntil = Date.now() + outageMs;
      }
      return Date.now() < outUntil ? 'cut' : 'pass';
    };
    const targets = await migrate('contacts', proxy.config, { onRetry: () => void retries++ });
    expect(mostCopying).to.be.within(2, 4);
    expect(retriesBefore).to.equal(0);
    expect(retries).to.be.above(0);
    expect(await behind('contacts')).to.deep.equal(targets);
    await traffic.verify();
  }).timeout(120_000);

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

  it('ends although rejections are deleted meanwhile', async () => {
    const id = 'rejected';
    const rejected_at = new Date(clock.now()).toISOString();
    const place = { stream: 'contacts', line: 1, sequence: 1, pointer: '', record_id: null };
    await store.keepRejections(ORGANIZATION, [
      { id, organization_id: ORGANIZATION, code: 'not_an_object', rejected_at, ...place },
    ]);
    proxy.decide = async (request): Promise<Fate> => {
      const step = stepOf(request, indices.config.indexPrefix);
      if (step === 'PUT rejections/_block/write') await store.deleteRejections([id]);
      return 'pass';
    };
    const targets = await migrate('rejections');
    expect(await behind('rejections')).to.deep.equal(targets);
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

  /** Suspends a reindex at a step until its lease has expired. Resuming it resolves with its error, or null. */
  async function suspendedAt(step: string): Promise<() => Promise<Error | null>> {
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
    return () => {
      held.open();
      return late;
    };
  }

  for (const step of ['PUT contacts/_block/write', 'POST _aliases', 'DELETE contacts']) {
    it(`changes nothing after a process was suspended at ${step} while another reindexed`, async () => {
      const resume = await suspendedAt(step);
      const targets = await migrate('contacts', indices.config);
      await resume();
      expect(await behind('contacts')).to.deep.equal(targets);
      await recovered('contacts');
      await traffic.verify();
    }).timeout(120_000);
  }

  it('lifts a write block that is set after another process has rolled back', async () => {
    const resume = await suspendedAt('PUT contacts/_block/write');
    await recovered('contacts');
    expect(await resume()).to.be.instanceOf(Error);
    await recovered('contacts');
    await traffic.verify();
  }).timeout(120_000);
});
