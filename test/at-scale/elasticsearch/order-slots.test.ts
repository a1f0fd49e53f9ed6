import { expect } from 'chai';
import { acceptanceClock, type OrderedRecord, recordOrder } from '../../../services/shared/record-order.js';
import { StoreUnavailableError } from '../../../services/shared/store-errors.js';
import { withFields } from '../../contract/record-order.js';
import { freshOrganization } from '../../contract/record-store-support.js';
import { parsed } from '../../support/parsed-store.js';
import { type HttpProxy, startHttpProxy } from './http-proxy.js';
import { openStore, testIndices } from './support.js';

describe('Slots of the sequence of records on Elasticsearch', () => {
  const indices = testIndices();
  let proxy: HttpProxy;

  before(async () => {
    proxy = await startHttpProxy(indices.config);
  });
  beforeEach(() => {
    proxy.decide = () => 'pass';
  });

  it('give two gateways whose clocks stand at one millisecond different orders', async () => {
    const stores = [await openStore(indices.config), await openStore(indices.config)] as const;
    const clock = { now: () => 1_800_000_000_000 };
    const given = new Set<string>();
    for (const store of stores) {
      const accept = acceptanceClock(store, clock);
      for (let request = 0; request < 5; request++) {
        const { acceptedAt, sequence } = (await accept()).at(1);
        given.add(recordOrder(null, acceptedAt, sequence));
      }
    }
    expect(given.size).to.equal(10);
  });

  it('keep both fields of a contact that two gateways write in one millisecond, whichever writes first', async () => {
    const stores = [await openStore(indices.config), await openStore(indices.config)] as const;
    const organization_id = freshOrganization();
    const clock = { now: () => 1_800_000_100_000 };
    const [first, second] = [acceptanceClock(stores[0], clock), acceptanceClock(stores[1], clock)];
    const [one, other] = [(await first()).at(1), (await second()).at(1)];
    expect(one).not.to.deep.equal(other);
    const records: OrderedRecord<{ contact_id: string; first_name?: string; last_name?: string }>[] = [
      { ...one, record: { contact_id: 'c', first_name: 'A' } },
      { ...other, record: { contact_id: 'c', last_name: 'B' } },
    ].sort((left, right) => left.acceptedAt - right.acceptedAt || left.sequence - right.sequence);
    for (const each of records) await stores[0].upsertContacts(withFields([each], { organization_id }));
    const stored = await parsed(stores[0]).getContact(organization_id, 'c');
    expect(stored).to.include({ first_name: 'A', last_name: 'B' });
  });

  it('are leased anew after a lapse, by another slot where another process has taken theirs', async () => {
    const [paused, next] = [await openStore(indices.config), await openStore(indices.config)];
    const now = 1_900_000_000_000;
    const held = await paused.leaseSlot(now);
    const after = held.until;
    const taken = await next.leaseSlot(after);
    expect(taken).to.include({ slot: held.slot, from: held.until });
    const again = await paused.leaseSlot(after);
    expect(again.slot).not.to.equal(held.slot);
    expect(again.until).to.be.above(after);
  });

  it('stay with their process where the response to its renewal is lost', async () => {
    const store = await openStore(proxy.config);
    const held = await store.leaseSlot(2_000_000_000_000);
    let lost = 0;
    proxy.decide = ({ method, path }) =>
      method === 'PUT' && path.includes('order-slot') && lost++ === 0 ? 'cut response' : 'pass';
    const attempt = () => store.leaseSlot(held.until).catch(() => undefined);
    const renewed = (await attempt()) ?? (await attempt());
    expect(lost).to.be.above(0);
    expect(renewed).to.include({ slot: held.slot });
    expect(renewed?.until).to.be.above(held.until);
  });

  it('are refused while the cluster is unavailable, so that no record is accepted without an order', async () => {
    const store = await openStore(proxy.config);
    const accept = acceptanceClock(store);
    proxy.decide = () => 'cut';
    const refused = await accept().catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(StoreUnavailableError);
    proxy.decide = () => 'pass';
    expect((await accept()).at(1).sequence).to.be.above(0);
  });
});
