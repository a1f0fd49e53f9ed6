import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Answer, gatewaySuite, type TestGateway } from '../../support/gateway.js';

const BALANCE = 10;
const CREATES = 64;

export const credits = gatewaySuite('Credits under concurrent creations', (start) => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await start();
  });
  after(() => gateway.close());

  /** A metered organization with one audience. */
  async function meteredOrganization(id: string): Promise<string> {
    const key = await gateway.keyFor(id);
    await gateway.stores.search.setCredits(id, BALANCE);
    await gateway.ingest('audiences', [{ id: 'aud', name: 'Audience' }], { key });
    return key;
  }

  function create(
    organization_id: string,
    key: string,
    name: string,
    idempotencyKey?: string,
  ): Promise<Answer> {
    return gateway.call(
      '/api/contacts/create',
      { organization_id, audience_id: 'aud', first_name: name },
      { key, headers: idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {} },
    );
  }

  async function countContacts(organization_id: string, key: string): Promise<unknown> {
    return (await gateway.call('/api/contacts/search', { organization_id }, { key })).body.total_count;
  }

  const ofStatus = (answers: readonly Answer[], status: number) =>
    answers.filter((answer) => answer.status === status);

  it('64 concurrent creations on a balance of 10 create exactly 10 contacts and reject 54', async () => {
    const key = await meteredOrganization('org_parallel');
    const answers = await Promise.all(
      Array.from({ length: CREATES }, (_, index) => create('org_parallel', key, `Person ${index}`)),
    );
    const created = ofStatus(answers, 200);
    const rejected = ofStatus(answers, 402);
    expect(created).to.have.length(BALANCE);
    expect(created.map(({ body }) => body.credit_balance).sort()).to.deep.equal([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    expect(rejected).to.have.length(CREATES - BALANCE);
    for (const { body } of rejected) {
      expect(body).to.include({ code: 'insufficient_credits', required_credits: 1, credit_balance: 0 });
    }
    expect(await gateway.stores.search.getCredits('org_parallel')).to.equal(0);
    expect(await countContacts('org_parallel', key)).to.equal(BALANCE);
  });

  it('a creation sent twice with one idempotency key is debited once', async () => {
    const organization = 'org_doubled';
    const key = await meteredOrganization(organization);
    const doubles = await Promise.all(
      Array.from({ length: CREATES }, async (_, index) => {
        const idempotencyKey = randomUUID();
        const send = () => create(organization, key, `Person ${index}`, idempotencyKey);
        return { send, answers: await Promise.all([send(), send()]) };
      }),
    );
    const contacts = new Set<unknown>();
    for (const { send, answers } of doubles) {
      const created = ofStatus(answers, 200);
      // A double is turned away while the first runs, replays it, or meets the empty balance as well.
      for (const answer of answers) expect(answer.status).to.be.oneOf([200, 402, 409]);
      for (const { body } of ofStatus(answers, 409)) expect(body.code).to.equal('idempotency_in_progress');
      const ids = new Set(created.map(({ body }) => body.contact_id));
      expect(ids.size).to.be.at.most(1);
      const again = await send();
      if (created[0]) {
        expect(again.status).to.equal(200);
        expect(again.headers.get('Idempotency-Replayed')).to.equal('true');
        expect(again.body).to.deep.equal(created[0].body);
        contacts.add(again.body.contact_id);
      } else {
        expect(again.status, 'a rejection is not kept, and the balance is still empty').to.equal(402);
      }
    }
    expect(contacts.size).to.equal(BALANCE);
    expect(await gateway.stores.search.getCredits(organization)).to.equal(0);
    expect(await countContacts(organization, key)).to.equal(BALANCE);
  });

  it('a creation that costs several credits is debited in full or not at all', async () => {
    const organization = 'org_several';
    const key = await meteredOrganization(organization);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        gateway.call(
          '/api/contacts/create?required_credits=3',
          { organization_id: organization, audience_id: 'aud' },
          { key },
        ),
      ),
    );
    expect(ofStatus(answers, 200)).to.have.length(3);
    for (const { body } of ofStatus(answers, 402)) expect(body.credit_balance).to.equal(1);
    expect(await gateway.stores.search.getCredits(organization)).to.equal(1);
    expect(await countContacts(organization, key)).to.equal(3);
  });
});
