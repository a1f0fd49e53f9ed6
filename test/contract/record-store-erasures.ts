import { expect } from 'chai';
import { type Rejection, rejectionId } from '../../services/rejections/rejection-store.js';
import { fromJson } from '../../services/shared/json.js';
import { PartialWriteError } from '../../services/shared/store-errors.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import type { ParsedStore } from '../support/parsed-store.js';
import { Random, runs, SEED } from '../support/random.js';
import { until } from '../support/until.js';
import {
  asked,
  creation,
  deferred,
  erasure,
  freshOrganization,
  load,
  loadAudiences,
  type Open,
  T0,
  useClock,
  walk,
} from './record-store-support.js';

/** More than one step removes on a server. */
const PERSONS = 104;

type Write = (
  store: ParsedStore,
  organization_id: string,
  contact_id: string,
  at: number,
) => Promise<boolean>;

const ingest =
  (fields: object): Write =>
  async (store, organization_id, contact_id, at) => {
    const record = { organization_id, contact_id, ...fields };
    const rejection = await store.upsertContacts(accepted([record], at)).catch((error: unknown) => error);
    return !(rejection instanceof PartialWriteError);
  };

/** Writes that would each hide a contact from an erasure by its address. They resolve with whether they were carried out. */
const WRITERS = {
  async update(store, organizationId, contactId) {
    const result = await store.updateContact({ organizationId, contactId, changes: { work_emails: [] } });
    return result.kind === 'done' && result.value.kind === 'updated';
  },
  record: ingest({ work_emails: [], first_name: 'Ann' }),
  deletingRecord: ingest({ deleted: true }),
  async deletion(store, organizationId, contactId) {
    await store.deleteContacts({ organizationId, contactIds: [contactId] });
    return false;
  },
} satisfies Record<string, Write>;

export function recordStoreErasures(open: Open): void {
  describe('erasures', () => {
    let now = T0;
    const opened = useOpened(() => open());
    useClock(opened, () => now);

    const erase = (organizationId: string, proofId: string, contactId: string) =>
      opened.store.eraseContacts(erasure(organizationId, proofId, [contactId]));

    it('of two contacts of one person at once suppress the address that both have', async () => {
      const organizationId = freshOrganization();
      const email = `one.${organizationId}@person.example`;
      await load(opened.store, organizationId, [{ work_emails: [email] }, { work_emails: [email] }]);
      const results = await Promise.all([
        erase(organizationId, `${organizationId}_a`, 'c0'),
        erase(organizationId, `${organizationId}_b`, 'c1'),
      ]);
      expect(results.flatMap(({ erased }) => erased)).to.have.members(['c0', 'c1']);
      const again = { organization_id: organizationId, contact_id: 'c3', personal_emails: [email] };
      const rejection = await opened.store
        .upsertContacts(accepted([again], T0))
        .catch((error: unknown) => error);
      expect(rejection).to.be.instanceOf(PartialWriteError);
      expect(await opened.store.getContact(organizationId, 'c3')).to.equal(null);
    });

    it('leave no contact of the person and keep out all that they had, whoever writes between two steps or after a crash there', async () => {
      const random = new Random(SEED);
      const writers = Object.keys(WRITERS) as (keyof typeof WRITERS)[];
      for (let draw = 0; draw < runs(4); draw++) {
        const schedule = {
          // With `never` the writer and the erasure race.
          stopBefore: [0, 1, 2, 'never'][draw % 4] as number | 'never',
          writer: writers[draw % writers.length] as keyof typeof WRITERS,
          isCrash: random.chance(0.6),
        };
        await play(schedule, `draw ${draw} of seed ${SEED}: ${JSON.stringify(schedule)}`);
      }
    });

    async function play(
      {
        stopBefore,
        writer,
        isCrash,
      }: { stopBefore: number | 'never'; writer: keyof typeof WRITERS; isCrash: boolean },
      message: string,
    ): Promise<void> {
      now = T0;
      const organizationId = freshOrganization();
      const email = `named.${organizationId}@person.example`;
      const own = (id: string) => `own.${id}.${organizationId}@person.example`;
      // More contacts than one step removes; `z`, the last contact in any order, is written meanwhile.
      const ids = [...Array.from({ length: PERSONS }, (_, index) => `c${index}`), 'z'];
      await load(
        opened.store,
        organizationId,
        ids.map((contact_id) => ({ contact_id, work_emails: [email], personal_emails: [own(contact_id)] })),
      );
      let steps = 0;
      const stopped = deferred();
      const released = deferred();
      const process = await opened.another({
        async beforeJobStep() {
          if (steps++ !== stopBefore) return;
          stopped.resolve();
          await released.promise;
        },
      });
      const command = erasure(organizationId, `${organizationId}_era`, [], [{ kind: 'email', value: email }]);
      const outcome = process.eraseContacts(command).catch((error: unknown) => error);
      if (stopBefore !== 'never') await Promise.race([stopped.promise, outcome]);
      const wasDone = await WRITERS[writer](opened.store, organizationId, 'z', T0 + 1000);
      if (stopBefore !== 'never') expect(wasDone, message).to.equal(false);
      if (isCrash) released.reject(new Error('the process ends here'));
      else released.resolve();
      if (!isCrash || stopBefore === 'never') await outcome;
      await process.close();
      await outcome;

      now = T0 + 3_600_000;
      const restarted = await opened.another({ goesOn: true });
      const found = async () => {
        await restarted.refresh();
        return (await restarted.searchContacts(asked(organizationId, { email }))).total;
      };
      await until(async () => (await found()) === 0, `no contact is left, ${message}`);
      expect(await restarted.getContact(organizationId, 'c0'), message).to.equal(null);
      if (!wasDone) expect(await restarted.getContact(organizationId, 'z'), message).to.equal(null);
      const isKeptOut = async (address: string) => {
        const record = { organization_id: organizationId, contact_id: 'new', personal_emails: [address] };
        const rejection = await restarted.upsertContacts(accepted([record], now)).catch((error) => error);
        return rejection instanceof PartialWriteError;
      };
      // A write that ended before the erasure began does not concern the erasure.
      const isRace = stopBefore === 'never';
      const addresses = [email, own('c0'), ...(isRace ? [] : [own('z')])];
      for (const address of addresses)
        expect(await isKeptOut(address), `${address}, ${message}`).to.equal(true);
      const { items } = await restarted.listErasures({ organizationId, limit: 1 });
      expect(items[0]?.removed.contacts, message).to.be.oneOf([PERSONS + 1, ...(isRace ? [PERSONS] : [])]);
      await restarted.close();
    }

    it('delete rejected records that name the person, count them, and leave those of others', async () => {
      const organizationId = freshOrganization();
      await load(opened.store, organizationId, [{}]);
      const rejection = (line: number, record_id: string): Rejection => ({
        ...{ id: rejectionId(Date.now(), line), organization_id: organizationId, stream: 'contacts', line },
        ...{ code: 'invalid_type', pointer: '/age', rejected_at: new Date().toISOString() },
        ...{ sequence: line, record_id },
      });
      await opened.store.keepRejections(organizationId, [
        rejection(1, 'c0'),
        rejection(2, 'other'),
        rejection(3, 'c0'),
      ]);
      const { proof } = await erase(organizationId, `${organizationId}_named`, 'c0');
      expect(proof.removed).to.include({ contacts: 1, rejections: 2 });
      const { items } = await opened.store.listRejections({ organizationId, limit: 10 });
      expect(items.map((item) => fromJson(item).record_id)).to.deep.equal(['other']);
    });

    it('keep a person out whose address comes back in another spelling', async () => {
      const organizationId = freshOrganization();
      const profile = 'https://www.network-a.example/in/eve-erased';
      const person = { work_emails: ['eve.erased@x.example'], network_a_url: profile };
      await load(opened.store, organizationId, [person]);
      await erase(organizationId, `${organizationId}_eve`, 'c0');
      const records = [
        { work_emails: ['ｅve.erased@x.example'] },
        { personal_emails: ['EVE．erased@X.example'] },
        { network_a_url: 'https://m.network-a.example:443/./in//eve-erased/details/experience/' },
        { network_a_url: 'https://www.network-a.example/comm/in/eve-erased?midToken=1' },
        { network_a_url: 'https://network-a.example/mwlite/in/eve-erased%20' },
        { network_a_url: 'https://network-a.example/in/eve\u200b-erased),' },
        { work_emails: ['eve.erased+news@x.example'] },
      ].map((fields, index) => ({
        organization_id: organizationId,
        contact_id: `spelling_${index}`,
        ...fields,
      }));
      const error = await opened.store
        .upsertContacts(accepted(records, T0))
        .catch((error: unknown) => error as PartialWriteError);
      expect(error).to.be.instanceOf(PartialWriteError);
      // All but the last contact, which has an address of its own.
      expect([...(error as PartialWriteError).rejected.keys()]).to.deep.equal([
        ...records.slice(0, -1).keys(),
      ]);
      await loadAudiences(opened.store, organizationId, 'aud');
      const created = await opened.store.createContact(
        creation(organizationId, 'c9', person, { onDuplicate: 'return' }),
      );
      expect(created).to.deep.include({ value: { kind: 'contact_suppressed' } });
    });

    it('pages proofs by the time of the request, those of one millisecond by id', async () => {
      const organizationId = freshOrganization();
      for (const [proofId, ms] of Object.entries({ era_c: 1, era_b: 0, era_a: 1, era_d: 2 })) {
        now = T0 + ms;
        const named = [{ kind: 'id' as const, value: proofId }];
        await opened.store.eraseContacts(erasure(organizationId, proofId, [], named));
      }
      const listed = await walk(async (after) => {
        const page = await opened.store.listErasures({ organizationId, limit: 1, after });
        expect(page).to.include({ total: 4 }).and.to.have.property('items').with.length(1);
        return page;
      });
      expect(listed.map(({ proof_id }) => proof_id)).to.deep.equal(['era_b', 'era_a', 'era_c', 'era_d']);
      expect(
        await opened.store.listErasures({ organizationId: freshOrganization(), limit: 1 }),
      ).to.deep.equal({
        items: [],
        total: 0,
        next: null,
      });
    });
  });
}
