import { expect } from 'chai';
import { filesWith } from '../support/files.js';
import {
  livePerson,
  type PersonHistory,
  prepareAudiences,
  tailsOf,
  tokensInLists,
} from '../support/person-history.js';
import { Random, runs, SEED } from '../support/random.js';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const ORGANIZATION = 'org_history';
const organization = { organization_id: ORGANIZATION };
const PERSONS = runs(16);

describe(`Erasures of persons with a history (seed ${SEED})`, function () {
  this.timeout(240_000);
  const random = new Random(SEED);
  let folder: string;
  let key: string;
  let server: ServerProcess;
  const start = async () => {
    server = await startServer({ dataDir: folder, key, environment: { REACHLINE_LOG_LEVEL: 'debug' } });
  };
  before(async () => {
    folder = tempFolder();
    key = await prepareOrganization(folder, ORGANIZATION);
    await start();
    await prepareAudiences(server);
  });
  after(() => server.kill());

  const others = (version: number) =>
    server.ingest(
      'contacts',
      Array.from({ length: 500 }, (_, index) => ({
        contact_id: `other_${index}`,
        first_name: 'Ann',
        last_name: `Other${index}`,
        job_title: `Title ${version}`,
        work_emails: [`ann${index}@elsewhere.example`],
      })),
    );
  const erase = (request: object) => server.call('/api/contacts/erase', { ...organization, ...request });
  const allComplete = () =>
    until(async () => {
      const { body } = await server.call('/api/contacts/erasures', { ...organization, limit: 1000 });
      return (body.erasures as { completed_at: string | null }[]).every(
        ({ completed_at }) => completed_at !== null,
      );
    }, 'every erasure is complete');

  async function expectNothingOf(persons: readonly PersonHistory[], output: string): Promise<void> {
    const inLists = await tokensInLists(
      server,
      organization,
      persons.flatMap(({ tokens }) => tokens),
    );
    expect(inLists, 'in lists').to.deep.equal([]);
    // The id stays in the feed of changes as a mark, for a week.
    const left = persons.flatMap(({ contactId, tokens, steps }) =>
      filesWith(folder, tailsOf(tokens.filter((token) => !contactId.includes(token)))).map(
        (where) => `${where} after ${steps.join(', ')}`,
      ),
    );
    expect(left, 'in files').to.deep.equal([]);
    for (const tail of persons.flatMap(({ tokens }) => tailsOf(tokens)))
      expect(output.toLowerCase()).not.to.include(tail);
  }

  it('leave no word of them in any file and any list once they are complete', async () => {
    const persons: PersonHistory[] = [];
    for (let number = 0; number < PERSONS; number++) {
      if (number % 4 === 0) await others(number);
      persons.push(await livePerson(random, server, organization));
    }
    await others(PERSONS);
    for (const { request, steps } of persons) {
      const { status, text } = await erase(request);
      expect(status, `${steps.join(', ')}: ${text}`).to.equal(200);
    }
    await allComplete();
    await expectNothingOf(persons, server.output());
  });

  it('go on after the server is killed in the middle, and leave nothing either', async () => {
    const email = 'everybody@shared-history.example';
    const person = await livePerson(random, server, organization);
    const contacts = Array.from({ length: 100 }, (_, index) => ({
      contact_id: `shared_${index}`,
      first_name: `zwyndhamshared${index}`,
      work_emails: [
        email,
        ...Array.from({ length: 20 }, (__, at) => `u${index}_${at}@d${at}.shared-history.example`),
      ],
    }));
    for (const version of ['Clerk', 'Head']) {
      const records = contacts.map((contact) => ({ ...contact, job_title: `quorvaxshared ${version}` }));
      expect((await server.ingest('contacts', records)).body).to.include({ rejected: 0 });
    }
    const count = async () => {
      const { body } = await server.call('/api/contacts/search', { ...organization, email, limit: 1 });
      return body.total_count as number;
    };
    const answered = erase({ email }).catch(() => undefined);
    await until(async () => (await count()) < 100, 'some contacts are removed');
    const output = server.output();
    await server.kill();
    await answered;
    await start();
    await until(async () => (await count()) === 0, 'all contacts are removed');
    expect((await erase(person.request)).status).to.equal(200);
    const again = await server.ingest('contacts', [
      { contact_id: 'shared_1', first_name: 'A', personal_emails: [email] },
    ]);
    expect(again.body).to.include({ accepted: 1, suppressed: 1 });
    await allComplete();
    await expectNothingOf([person], output + server.output());
    expect(filesWith(folder, ['shared-history', 'wyndhamshared', 'quorvaxshared'])).to.deep.equal([]);
    const { body } = await server.call('/api/contacts/erasures', { ...organization, limit: 1000 });
    const proofs = body.erasures as { removed: { contacts: number } }[];
    expect(proofs.map(({ removed }) => removed.contacts)).to.include(100);
  });

  it('leave no contact in place and keep the address out, whatever writes the person meanwhile', async () => {
    for (let round = 0; round < runs(8); round++) {
      const email = `raced${round}@race.example`;
      const contact_id = `raced_${round}`;
      let isOver = false;
      const write = () => {
        const chance = random.below(3);
        if (chance === 0)
          return server.ingest('contacts', [{ contact_id, first_name: 'E', work_emails: [email] }]);
        if (chance === 1) {
          const body = { ...organization, audience_id: 'aud_history_1', work_emails: [email] };
          return server.call('/api/contacts/create', body);
        }
        const changes = random.chance(0.5) ? { personal_emails: [email.toUpperCase()] } : { work_emails: [] };
        return server.call('/api/contacts/update', { ...organization, contact_id, ...changes });
      };
      let written = 0;
      const writers = Array.from({ length: 3 }, async () => {
        while (!isOver) {
          await write();
          written++;
        }
      });
      await until(() => written > 6, 'the writers have begun');
      const { status } = await erase({ email });
      expect(status).to.equal(200);
      const before = written;
      await until(() => written > before + 6, 'the writers have gone on');
      isOver = true;
      await Promise.all(writers);
      const found = await server.call('/api/contacts/search', { ...organization, email, limit: 1 });
      expect(found.body.total_count, `round ${round}`).to.equal(0);
      const again = await server.ingest('contacts', [{ contact_id: `again_${round}`, work_emails: [email] }]);
      expect(again.body).to.include({ suppressed: 1 });
    }
  });
});
