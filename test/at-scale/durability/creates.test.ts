import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { issueKey } from '../../../services/accounts/keys.js';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import { allPages, asked, loadAudiences } from '../../contract/record-store-support.js';
import { parsed } from '../../support/parsed-store.js';
import { Random, runs, SEED } from '../../support/random.js';
import { repeat } from '../../support/repeat.js';
import { until } from '../../support/until.js';
import { openStore, testIndices } from '../elasticsearch/support.js';
import { Gateways } from './gateways.js';

const ORGANIZATION = 'org_creates';
const CREATORS = 64;
const CREATES = runs(1000);
const BALANCE = 1_000_000;
const KILL_INTERVAL_MS = 4000;

describe(`Creating contacts through several gateways (TEST_SEED=${SEED})`, () => {
  const indices = testIndices();
  let store: RecordStore;
  let key: string;
  let gateways: Gateways | undefined;

  before(async () => {
    store = await openStore(indices.config);
    key = await issueKey(store, { organizationId: ORGANIZATION, scopes: ['*'] });
    await loadAudiences(store, ORGANIZATION, 'aud');
  });
  afterEach(async () => {
    await gateways?.stop();
    gateways = undefined;
  });

  it(`charges each of ${CREATES} contacts once with ${CREATORS} creators on four processes, some of them killed`, async () => {
    await store.setCredits(ORGANIZATION, BALANCE);
    const four = await Gateways.start(4, indices.config, key);
    gateways = four;
    const random = new Random(SEED);
    let done = false;
    let kills = 0;
    const killing = (async () => {
      for (let turn = 0; !done; turn++) {
        await pause(KILL_INTERVAL_MS * (0.5 + random.next()));
        if (done) break;
        await four.killAndRestart(turn % four.count);
        kills++;
      }
    })();
    const ids = new Set<unknown>();
    await repeat(CREATES, CREATORS, async (number) => {
      const response = await four.callUntilDone(
        '/api/contacts/create',
        { organization_id: ORGANIZATION, audience_id: 'aud', first_name: `Person ${number}` },
        { headers: { 'Idempotency-Key': randomUUID() } },
      );
      expect(response.status, response.text).to.equal(200);
      expect(response.body.credits_consumed).to.equal(1);
      ids.add(response.body.contact_id);
    });
    done = true;
    await killing;
    expect(kills).to.be.greaterThan(0);
    expect(ids.size).to.equal(CREATES);
    const names = (await allPages(parsed(store), asked(ORGANIZATION, { limit: 1000 }))).map((contact) => {
      expect(ids.has(contact.contact_id), contact.contact_id).to.equal(true);
      return contact.first_name;
    });
    expect(new Set(names).size, 'each of them once').to.equal(CREATES);
    expect(names.length).to.equal(CREATES);
    // The recovery job of another process refunds the reservations of a killed process.
    const isSettled = async () => (await store.getCredits(ORGANIZATION)) === BALANCE - CREATES;
    await until(isSettled, 'each creation is debited once', { pollMs: 500, timeoutMs: 120_000 });
  }).timeout(900_000);
});
