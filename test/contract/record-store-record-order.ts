import { expect } from 'chai';
import fc from 'fast-check';
import type { AudienceRecord } from '../../services/audiences/schema.js';
import type { ContactRecord } from '../../services/contacts/schema.js';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import { useOpened } from '../support/opened.js';
import type { ParsedStore } from '../support/parsed-store.js';
import { Random } from '../support/random.js';
import {
  assertForTwoWriters,
  at,
  BATCH_SIZES,
  batchesOf,
  KEYS,
  lastOfEach,
  orderedRecords,
  spokenOf,
  withFields,
} from './record-order.js';
import { asked, freshOrganization, type Open, T0, withStale } from './record-store-support.js';

const RUNS = { numRuns: 40 };

export function recordStoreRecordOrder(open: Open): void {
  describe('the order of records (contract 6.2)', () => {
    const opened = useOpened(() => open());
    const another = useOpened(() => opened.another());

    /** Each writer writes its batches one after another; both writers run at once. */
    const writeAll = <T>(
      batches: readonly OrderedRecord<T>[][][],
      write: (store: ParsedStore, records: OrderedRecord<T>[]) => Promise<void>,
    ) =>
      Promise.all(
        batches.map(async (own, writer) => {
          for (const batch of own) await withStale(write(writer === 0 ? opened.store : another, batch));
        }),
      );

    const deleted = fc.option(fc.constant(true as const), { nil: undefined, freq: 3 });
    const contact = fc.record({
      contact_id: fc.constantFrom(...KEYS),
      first_name: fc.constantFrom('Ann', 'Bea', 'Cy'),
      city: fc.constantFrom('Oslo', 'Rome', null),
      work_emails: fc.constantFrom<string[]>([], ['a@x.example']),
      created_at: fc.constantFrom(0, 5).map(at),
      updated_at: spokenOf,
      deleted,
    });

    it('the last record of a contact stays or deletes it, whatever order records are written in, twice and by two writers', async () => {
      await assertForTwoWriters(
        contact,
        async (records, batches) => {
          const organization_id = freshOrganization();
          await writeAll(batches, (store, batch) =>
            store.upsertContacts(withFields(batch, { organization_id })),
          );
          const last = lastOfEach(records, 'contact_id');
          for (const [id, { record, acceptedAt }] of last) {
            const { deleted, ...fields } = record;
            const stored = await opened.store.getContact(organization_id, id);
            if (deleted) expect(stored).to.equal(null);
            else
              expect(stored).to.deep.include({
                ...fields,
                // Milliseconds are shown; further digits only order records.
                updated_at: new Date(record.updated_at ?? acceptedAt).toISOString(),
              });
          }
          await opened.store.refresh();
          const left = [...last.values()].filter(({ record: { deleted } }) => !deleted).length;
          expect((await opened.store.searchContacts(asked(organization_id))).total).to.equal(left);
        },
        RUNS.numRuns,
      );
    });

    it('the last record of an audience stays or deletes it, whatever order records are written in, twice and by two writers', async () => {
      const audience = fc.record({
        id: fc.constantFrom(...KEYS),
        name: fc.constantFrom('North', 'South', 'East'),
        description: fc.constantFrom('about', null),
        created_at: fc.constantFrom(0, 5).map(at),
        updated_at: spokenOf,
        deleted,
      });
      await assertForTwoWriters(
        audience,
        async (records, batches) => {
          const organization_id = freshOrganization();
          await writeAll(batches, (store, batch) =>
            store.upsertAudiences(withFields(batch, { organization_id })),
          );
          const last = lastOfEach(records, 'id');
          for (const [id, { record }] of last) {
            const { name, description, deleted } = record;
            const stored = await opened.store.getAudience(organization_id, id);
            if (deleted) expect(stored).to.equal(null);
            else expect(stored).to.include({ id, name, description });
          }
          await opened.store.refresh();
          const { items } = await opened.store.searchAudiences({
            organizationId: organization_id,
            offset: 0,
            limit: 10,
          });
          const created = (id: string) => last.get(id)?.record.created_at ?? '';
          const kept = [...last].filter(([, { record }]) => !record.deleted).map(([id]) => id);
          const newestFirst = kept.sort((left, right) =>
            created(left) === created(right)
              ? right.localeCompare(left)
              : created(right).localeCompare(created(left)),
          );
          expect(items.map(({ id }) => id)).to.deep.equal(newestFirst);
        },
        RUNS.numRuns,
      );
    });

    it('records that give some of the fields make the same contact when another writer repeats a part of them late', async () => {
      const some = fc.record(
        {
          first_name: fc.constantFrom('Ann', 'Bea', null),
          city: fc.constantFrom('Oslo', 'Rome', null),
          age: fc.constantFrom(30, 40),
          audience_ids: fc.constantFrom<string[]>(['one'], ['two', 'three']),
          updated_at: fc.constantFrom(0, 1, 2).map(at),
        },
        { requiredKeys: [] },
      );
      const cases = orderedRecords(some).chain((records) =>
        fc.record({
          records: fc.constant(records),
          // The other writer has already written the records that the late writer holds.
          from: fc.nat(records.length - 1),
          to: fc.integer({ min: 1, max: records.length }),
        }),
      );
      await fc.assert(
        fc.asyncProperty(cases, async ({ records, from, to }) => {
          const organization_id = freshOrganization();
          const log = records.map(
            ({ record }, sequence): OrderedRecord<ContactRecord> => ({
              record: { ...record, organization_id, contact_id: 'c' },
              acceptedAt: T0,
              sequence,
            }),
          );
          await withStale(opened.store.upsertContacts(log.slice(0, to)));
          const lateRecords = log.slice(Math.min(from, to), to);
          await Promise.all([
            withStale(opened.store.upsertContacts(log.slice(to))),
            withStale(another.upsertContacts(lateRecords)),
          ]);

          const expected: Record<string, unknown> = { first_name: null, city: null, age: null };
          const audiences = new Set<string>();
          let newest = Number.NEGATIVE_INFINITY;
          for (const { record } of log) {
            const time = Date.parse(record.updated_at ?? at(0));
            if (time < newest) continue;
            newest = time;
            const { first_name, city, age, audience_ids } = record;
            for (const [name, value] of Object.entries({ first_name, city, age }))
              if (value !== undefined) expected[name] = value;
            for (const id of audience_ids ?? []) audiences.add(id);
          }
          expect(await opened.store.getContact(organization_id, 'c')).to.deep.include({
            ...expected,
            audience_ids: [...audiences].sort(),
            updated_at: new Date(newest).toISOString(),
          });
        }),
        RUNS,
      );
    });

    it('the first accepted record of a visit stays, whatever order records are written in, twice and by two writers', async () => {
      const visit = fc.record({ id: fc.constantFrom(...KEYS), city: fc.constantFrom('Oslo', 'Rome', null) });
      await assertForTwoWriters(
        visit,
        async (records, batches) => {
          const organizationId = freshOrganization();
          await writeAll(batches, (store, batch) =>
            store.insertVisits(withFields(batch, { organizationId, createdAt: at(0) })),
          );
          await opened.store.refresh();
          const first = new Map<string, OrderedRecord<{ id: string; city: string | null }>>();
          for (const each of records) {
            const { acceptedAt, sequence, record } = each;
            const other = first.get(record.id);
            if (
              !other ||
              acceptedAt - other.acceptedAt < 0 ||
              (acceptedAt === other.acceptedAt && sequence < other.sequence)
            )
              first.set(record.id, each);
          }
          const { items, total } = await opened.store.searchVisits({ organizationId, limit: 10 });
          expect(total).to.equal(first.size);
          expect(Object.fromEntries(items.map(({ id, city }) => [id, city]))).to.deep.equal(
            Object.fromEntries([...first].map(([id, { record }]) => [id, record.city])),
          );
        },
        RUNS.numRuns,
      );
    });

    it('each record counts from its own acceptance, not from that of its batch', async () => {
      const organization_id = freshOrganization();
      const records = ['a', 'b', 'c'].map((contact_id, index) => ({
        record: { organization_id, contact_id } as ContactRecord,
        acceptedAt: T0 + index * 60_000,
        sequence: index,
      }));
      await opened.store.upsertContacts(records);
      for (const { record, acceptedAt } of records) {
        const moment = new Date(acceptedAt).toISOString();
        expect(await opened.store.getContact(organization_id, record.contact_id)).to.include({
          created_at: moment,
          updated_at: moment,
        });
      }
    });

    for (const sizes of BATCH_SIZES) {
      it(`all batches of one writer at once make what they make one after another: ${sizes.join(', ')} records`, async () => {
        const { store } = opened;
        const count = sizes.reduce((sum, size) => sum + size, 0);
        /** The same records for organizations of their own: half of them belong to the ten contacts that are compared. */
        const logOf = (organizations: readonly string[]) => {
          const random = new Random(count);
          const contacts = batchesOf(sizes, (index): ContactRecord => {
            const contact_id = random.chance(0.5) ? `often${random.below(10)}` : `once${index}`;
            return {
              organization_id: random.pick(organizations),
              contact_id,
              ...(random.chance(0.5) && { first_name: `Ann${index}` }),
              ...(random.chance(0.5) && { city: `Oslo${index}` }),
              ...(random.chance(0.2) && { deleted: true as const }),
            };
          });
          const audiences = batchesOf(sizes, (index): AudienceRecord => {
            const organization_id = random.pick(organizations);
            return { organization_id, id: `often${random.below(10)}`, name: `Name ${index}` };
          });
          const visits = batchesOf(sizes, (index) => {
            const organizationId = random.pick(organizations);
            return { organizationId, id: `often${random.below(10)}`, createdAt: at(0), city: `Oslo${index}` };
          });
          return { contacts, audiences, visits };
        };
        const stateOf = async (organizations: readonly string[]) => {
          await store.refresh();
          return Promise.all(
            organizations.map(async (organizationId) => {
              const ids = Array.from({ length: 10 }, (_, index) => `often${index}`);
              const contacts = await store.getContacts(organizationId, ids);
              const audiences = await store.searchAudiences({ organizationId, offset: 0, limit: 10 });
              const visits = await store.searchVisits({ organizationId, limit: 10 });
              const { total } = await store.searchContacts(asked(organizationId));
              const state = { contacts, audiences: audiences.items, visits: visits.items, total };
              return JSON.parse(JSON.stringify(state).replaceAll(organizationId, 'org'));
            }),
          );
        };
        const [inFlight, oneByOne] = [0, 1].map(() => [freshOrganization(), freshOrganization()]) as [
          string[],
          string[],
        ];
        const together = logOf(inFlight);
        await Promise.all(together.contacts.map((batch) => store.upsertContacts(batch)));
        await Promise.all(together.audiences.map((batch) => store.upsertAudiences(batch)));
        await Promise.all(together.visits.map((batch) => store.insertVisits(batch)));
        const apart = logOf(oneByOne);
        for (const batch of apart.contacts) await store.upsertContacts(batch);
        for (const batch of apart.audiences) await store.upsertAudiences(batch);
        for (const batch of apart.visits) await store.insertVisits(batch);
        expect(await stateOf(inFlight)).to.deep.equal(await stateOf(oneByOne));
      });
    }
  });
}
