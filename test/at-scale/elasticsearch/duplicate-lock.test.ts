import { expect } from 'chai';
import type { ElasticsearchConfig } from '../../../services/shared/config.js';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import {
  allPages,
  asked,
  creation,
  freshOrganization,
  loadAudiences,
} from '../../contract/record-store-support.js';
import { parsed } from '../../support/parsed-store.js';
import { gate, type HttpProxy, startHttpProxy } from './http-proxy.js';
import { openStore, testIndices } from './support.js';

/** Longer than any lease, shorter than a key is kept. */
const AFTER_LEASES_MS = 60_000;

describe('Duplicate locks on Elasticsearch', () => {
  const indices = testIndices();
  let proxy: HttpProxy;
  const clock = { skipped: 0, now: () => Date.now() + clock.skipped };

  const open = (config: ElasticsearchConfig) => openStore(config, { clock });
  before(async () => {
    proxy = await startHttpProxy(indices.config);
  });
  beforeEach(() => {
    proxy.decide = () => 'pass';
  });

  const create = async (store: RecordStore, organization: string, id: string) => {
    const person = { work_emails: ['a@x.example'] };
    const once = await store.createContact(
      creation(organization, id, person, { requiredCredits: 1, onDuplicate: 'reject' }),
    );
    return once.kind === 'done' ? once.value.kind : once.kind;
  };
  const organizationWithCredits = async (store: RecordStore) => {
    const organization = freshOrganization();
    await loadAudiences(store, organization, 'aud');
    await store.setCredits(organization, 10);
    return organization;
  };
  const isCreateOf = (id: string) => (request: { method: string; path: string }) =>
    request.method === 'PUT' && request.path.includes('_create') && request.path.includes(id);

  it('lets one of eight creators in two processes create the contact after a creator died holding its lock', async () => {
    const stores = [await open(indices.config), await open(indices.config)] as const;
    const organization = await organizationWithCredits(stores[0]);
    // Simulates a process that dies at its write: none of its later requests arrive.
    let died = false;
    proxy.decide = (request) => {
      died ||= isCreateOf('died')(request);
      return died ? 'cut' : 'pass';
    };
    const dying = await open(proxy.config);
    await create(dying, organization, 'died').catch(() => undefined);
    clock.skipped += AFTER_LEASES_MS;

    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        create(stores[index % 2 === 0 ? 0 : 1], organization, `c${index}`),
      ),
    );
    expect(outcomes.sort()).to.deep.equal([...Array(7).fill('contact_exists'), 'created']);
  });

  it('keeps a creator that outlived its lease from writing a duplicate, and refunds its credits', async () => {
    const store = await open(indices.config);
    const organization = await organizationWithCredits(store);
    const slow = await open(proxy.config);
    const held = gate();
    let isHeld = false;
    proxy.decide = async (request) => {
      isHeld ||= isCreateOf('slow')(request);
      if (isHeld) await held.wait();
      return 'pass' as const;
    };
    const late = create(slow, organization, 'slow').then(
      (outcome) => outcome,
      (error: Error) => error.name,
    );
    await held.reached;
    clock.skipped += AFTER_LEASES_MS;
    expect(await create(store, organization, 'fast')).to.equal('created');
    held.open();
    expect(await late).to.equal('StoreUnavailableError');

    const contacts = await allPages(parsed(store), asked(organization, { limit: 10 }));
    expect(contacts.map(({ contact_id }) => contact_id)).to.deep.equal(['fast']);
    expect(await store.getContact(organization, 'slow')).to.equal(null);
    for (const end = Date.now() + 30_000; Date.now() < end && (await store.getCredits(organization)) !== 9; );
    expect(await store.getCredits(organization)).to.equal(9);
  });

  it('finds the contact of a creator that outlived its lease after writing', async () => {
    const store = await open(indices.config);
    const organization = await organizationWithCredits(store);
    const slow = await open(proxy.config);
    const held = gate();
    let written = false;
    proxy.decide = async (request) => {
      if (written) await held.wait();
      written ||= isCreateOf('slow')(request);
      return 'pass' as const;
    };
    const late = create(slow, organization, 'slow');
    // The lock is released after the contact was written.
    await held.reached;
    clock.skipped += AFTER_LEASES_MS;
    expect(await create(store, organization, 'fast')).to.equal('contact_exists');
    held.open();
    expect(await late).to.equal('created');
  });
});
