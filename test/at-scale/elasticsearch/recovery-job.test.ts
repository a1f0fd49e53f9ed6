import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { createMetrics } from '../../../services/gateway/metrics.js';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import { creation, freshOrganization, loadAudiences } from '../../contract/record-store-support.js';
import { type HttpProxy, startHttpProxy } from './http-proxy.js';
import { openStore, testIndices } from './support.js';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('The recovery job on Elasticsearch', () => {
  const indices = testIndices();
  let client: Client;
  let store: RecordStore;
  const clock = { skipped: 0, now: () => Date.now() + clock.skipped };

  before(async () => {
    client = indices.client();
    store = await openStore(indices.config, { clock, recoveryIntervalMs: 500 });
  });

  it('deletes all idempotency keys of the day before, however many, and no others', async () => {
    const organizationId = freshOrganization();
    await loadAudiences(store, organizationId, 'aud');
    const remove = (key: string) =>
      store.removeMembership({
        organizationId,
        audienceId: 'aud',
        contactId: 'c',
        idempotency: { route: 'remove', key, fingerprint: 'f' },
      });
    await remove('real');
    const index = `${indices.config.indexPrefix}-idempotency`;
    const { hits } = await client
      .search({ index, size: 1, query: { match_all: {} } })
      .then(async (found) =>
        found.hits.hits.length > 0
          ? found
          : client.indices.refresh({ index }).then(() => client.search({ index, size: 1 })),
      );
    const source = hits.hits[0]?._source as object;
    const COPIES = 12_000;
    await client.helpers.bulk({
      datasource: Array.from({ length: COPIES }, (_, number) => ({ ...source, number })),
      onDocument: ({ number }) => [{ create: { _index: index, _id: `copy_${number}` } }, source],
      refreshOnCompletion: true,
    });
    clock.skipped += DAY_MS + 1000;
    await remove('fresh');

    const left = async () => {
      await client.indices.refresh({ index });
      return (await client.count({ index })).count;
    };
    for (const end = Date.now() + 30_000; Date.now() < end && (await left()) > 1; ) await pause(250);
    expect(await left()).to.equal(1);
    expect(await remove('fresh')).to.deep.include({ replayed: true });
  });

  describe('with reservations that cannot be resolved', () => {
    let proxy: HttpProxy;
    let other: RecordStore;
    const logged: object[] = [];

    before(async () => {
      // Closes the other store, which must not resolve the reservation.
      await store.close();
      proxy = await startHttpProxy(indices.config);
      const log = { info: () => undefined, warn: (details: object) => void logged.push(details) };
      other = await openStore(proxy.config, { clock, recoveryIntervalMs: 300, log });
    });

    it('counts, shows and logs them, resolves all others, and these once it can', async () => {
      const organizations = ['org_a_stuck', 'org_b_free'];
      proxy.decide = ({ path }) => (path.includes('_create') && path.includes('-contacts/') ? 'cut' : 'pass');
      for (const organization of organizations) {
        await loadAudiences(other, organization, 'aud');
        await other.setCredits(organization, 10);
        const outcome = await other
          .createContact(creation(organization, 'c', {}, { requiredCredits: 4 }))
          .catch((error: Error) => error.name);
        expect(outcome).to.equal('StoreUnavailableError');
        expect(await other.getCredits(organization)).to.equal(6);
      }
      proxy.decide = ({ path }) => (path.includes('org_a_stuck%2Fc') ? 'cut' : 'pass');
      clock.skipped += 120_000;

      const until = async (holds: () => Promise<boolean>) => {
        for (const end = Date.now() + 40_000; Date.now() < end && !(await holds()); ) await pause(100);
      };
      await until(async () => (await other.getCredits('org_b_free')) === 10);
      expect(await other.getCredits('org_b_free')).to.equal(10);
      expect(await other.getCredits('org_a_stuck')).to.equal(6);
      await until(async () => other.recovery?.overdueReservations === 1 && logged.length > 0);
      expect(other.recovery?.overdueReservations).to.equal(1);
      expect(logged[0]).to.include({ step: 'resolve a reservation', organization_id: 'org_a_stuck' });
      const metrics = createMetrics();
      metrics.measure({ recovery: () => other.recovery });
      expect(await metrics.render()).to.match(/^reachline_credit_reservations_overdue 1$/m);
      expect(await metrics.render()).to.match(/^reachline_recovery_failures_total [1-9]/m);

      proxy.decide = () => 'pass';
      await until(async () => other.recovery?.overdueReservations === 0);
      expect(await other.getCredits('org_a_stuck')).to.equal(10);
    });
  });
});
