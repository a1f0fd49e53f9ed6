import { expect } from 'chai';
import { createClient } from '../../services/client/index.js';
import { Random, runs, SEED } from '../support/random.js';
import { prepareOrganization, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { drawWrite } from './drawn-writes.js';

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
            await drawWrite(server, ORGANIZATION, random);
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
