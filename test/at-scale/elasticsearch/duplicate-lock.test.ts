import { expect } from 'chai';
import type { CreateContact } from '../../../services/contacts/contact-store.js';
import type { ElasticsearchConfig } from '../../../services/shared/config.js';
import type { SearchStore } from '../../../services/stores/common/search-store.js';
import { allPages, asked, freshOrganization, newContact } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
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

  const creation = (organization: string, id: string, email = 'a@x.example'): CreateContact => ({
    contact: newContact(organization, id, { work_emails: [email] }),
    audienceId: 'aud',
    requiredCredits: 1,
    onDuplicate: 'reject',
    dryRun: false,
  });
  const outcomeOf = async (store: SearchStore, command: CreateContact) => {
    const once = await store.createContact(command);
    return once.kind === 'done' ? once.value.kind : once.kind;
  };
  const organizationWithCredits = async (store: SearchStore) => {
    const organization = freshOrganization();
    await store.upsertAudiences(
      accepted([{ organization_id: organization, id: 'aud', name: 'A' }], Date.now()),
    );
    await store.setCredits(organization, 10);
    return organization;
  };
  const isCreateOf = (id: string) => (request: { method: string; path: string }) =>
    request.method === 'PUT' && request.path.includes('_create') && request.path.includes(id);

  it('lets one of eight creators in two processes create the contact after a creator died holding its lock', async () => {
    const stores = [await open(indices.config), await open(indices.config)] as const;
    const organization = await organizationWithCredits(stores[0]);
    // Dies at its write: none of its requests arrive any more.
    let died = false;
    proxy.decide = (request) => {
      died ||= isCreateOf('died')(request);
      return died ? 'cut' : 'pass';
    };
    const dying = await open(proxy.config);
    await outcomeOf(dying, creation(organization, 'died')).catch(() => undefined);
    clock.skipped += AFTER_LEASES_MS;

    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        outcomeOf(stores[index % 2 === 0 ? 0 : 1], creation(organization, `c${index}`)),
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
    const late = outcomeOf(slow, creation(organization, 'slow')).then(
      (outcome) => outcome,
      (error: Error) => error.name,
    );
    await held.reached;
    clock.skipped += AFTER_LEASES_MS;
    expect(await outcomeOf(store, creation(organization, 'fast'))).to.equal('created');
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
    const late = outcomeOf(slow, creation(organization, 'slow'));
    // The lock is released after the contact was written.
    await held.reached;
    clock.skipped += AFTER_LEASES_MS;
    expect(await outcomeOf(store, creation(organization, 'fast'))).to.equal('contact_exists');
    held.open();
    expect(await late).to.equal('created');
  });
});
