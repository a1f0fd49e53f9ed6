import { expect } from 'chai';
import { createClient } from '../../services/client/index.js';
import { Random, runs, SEED } from '../support/random.js';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';

type Json = Record<string, unknown>;

const ORGANIZATION = 'org_feed';
const ROUNDS = runs(3);
const WRITERS = 4;
const filter = { country: 'US' };

describe(`A follower of the feed of changes (seed ${SEED})`, () => {
  it('has what a search finds after each kill -9 of the server, under writes of every kind', async () => {
    const random = new Random(SEED);
    const dataDir = tempFolder();
    const key = await prepareOrganization(dataDir, ORGANIZATION);
    const start = () => startServer({ dataDir, key });
    let server = await start();
    const contacts = new Map<string, Json>();
    let cursor: string | undefined;
    /** Reads until the present, or while `isWriting`. */
    const follow = async (isWriting: () => boolean) => {
      const client = createClient({ url: server.url, apiKey: key, maxAttempts: 1 });
      do {
        for await (const change of client.changes({ filter, limit: 3, ...(cursor && { cursor }) })) {
          if (change.state === 'absent') contacts.delete(change.contact_id);
          else contacts.set(change.contact_id, change.contact as Json);
          cursor = change.cursor;
        }
      } while (isWriting());
    };
    try {
      await server.ingest('audiences', [{ id: 'aud', name: 'Aud' }]);
      for (let round = 0; round < ROUNDS; round++) {
        const killAfter = random.between(20, 60);
        let answers = 0;
        let isKilled = false;
        const write = async () => {
          while (!isKilled) {
            await drawWrite(server, random);
            if (++answers !== killAfter) continue;
            isKilled = true;
            await server.kill();
          }
        };
        // Requests that the kill cut off fail.
        const ended = await Promise.allSettled([
          ...Array.from({ length: WRITERS }, write),
          follow(() => !isKilled),
        ]);
        const failed = ended.find((each) => each.status === 'rejected' && !isKilled);
        expect(failed).to.equal(undefined);
        server = await start();
        await follow(() => false);
        const { contacts: found } = (
          await server.call('/api/contacts/search', { organization_id: ORGANIZATION, ...filter, limit: 1000 })
        ).body as { contacts: Json[] };
        const expected = new Map(found.map((contact) => [contact.contact_id as string, contact]));
        expect([...contacts.keys()].sort(), `round ${round}`).to.deep.equal([...expected.keys()].sort());
        for (const [id, contact] of expected) expect(contacts.get(id)).to.deep.equal(contact);
      }
    } finally {
      await server.kill();
    }
  }).timeout(120_000);
});

/** Sends a drawn write. Rejects if the connection breaks. */
async function drawWrite(server: ServerProcess, random: Random): Promise<void> {
  const contact_id = `c${random.below(30)}`;
  const call = (path: string, body: Json) => server.call(path, { organization_id: ORGANIZATION, ...body });
  const kind = random.below(10);
  if (kind < 5) {
    const records = Array.from({ length: 5 }, () => ({
      contact_id: `c${random.below(30)}`,
      country: random.pick(['US', 'DE']),
      city: `${random.below(1000)}`,
      audience_ids: random.chance(0.3) ? ['aud'] : [],
      ...(random.chance(0.1) && { deleted: true }),
    }));
    await server.ingest(
      'contacts',
      records.map(({ deleted, ...record }) =>
        deleted ? { contact_id: record.contact_id, deleted } : record,
      ),
    );
  } else if (kind < 7) await call('/api/contacts/update', { contact_id, country: random.pick(['US', 'DE']) });
  else if (kind === 7) await call('/api/contacts/delete', { contact_id });
  else if (kind === 8) await call('/api/audiences/contacts/remove', { audience_id: 'aud', contact_id });
  else if (random.chance(0.2)) await call('/api/contacts/erase', { contact_id });
}
