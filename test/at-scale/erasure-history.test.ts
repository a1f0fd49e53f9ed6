/** Runs the history of erased persons from test/durability/erasure-history.test.ts over a gateway on servers. */
import { expect } from 'chai';
import { issueKey } from '../../services/accounts/keys.js';
import { startGateway } from '../../services/gateway/server.js';
import { loadConfig } from '../../services/shared/config.js';
import { createLogger } from '../../services/shared/logger.js';
import { systemClock } from '../../services/shared/time.js';
import { openAnalyticsStore } from '../../services/stores/clickhouse/store.js';
import { allCopies } from '../../services/stores/copy/all-copies.js';
import { SqlFollower } from '../../services/stores/copy/follower.js';
import { filesWith } from '../support/files.js';
import { type Caller, callerOf } from '../support/gateway.js';
import { closedWithFile } from '../support/opened.js';
import {
  livePerson,
  type PersonHistory,
  prepareAudiences,
  tailsOf,
  tokensInLists,
} from '../support/person-history.js';
import { Random, runs, SEED } from '../support/random.js';
import { until } from '../support/until.js';
import { testDatabase } from './clickhouse/support.js';
import { openStore, testIndices } from './elasticsearch/support.js';

const ORGANIZATION = 'org_history';
const organization = { organization_id: ORGANIZATION };
const PERSONS = runs(12);
/** Folders of the servers. Without them, the test checks only the lists. */
const FOLDERS = ['TEST_ELASTICSEARCH_FOLDER', 'TEST_CLICKHOUSE_FOLDER'];

describe(`Erasures of persons with a history on servers (seed ${SEED})`, function () {
  this.timeout(600_000);
  const indices = testIndices();
  const database = testDatabase();
  let caller: Caller;
  let follower: SqlFollower;

  before(async () => {
    const config = {
      ...loadConfig({ PORT: '0', REACHLINE_RATE_LIMIT: '0' }),
      elasticsearch: indices.config,
      clickhouse: database.config,
    };
    const { store: analytics, sqlCopies: copies } = await openAnalyticsStore(database.config);
    const records = await openStore(indices.config, {
      copies: () => allCopies(copies),
      recoveryIntervalMs: 500,
      expungeIntervalMs: 0,
      takeoverMs: 5000,
    });
    follower = new SqlFollower({ records, copies, clock: systemClock });
    const stores = { records, analytics, follower };
    const gateway = await closedWithFile(
      startGateway(config, stores, createLogger('silent'), { clock: systemClock }).then((started) => ({
        url: started.url,
        close: () => started.stop(),
      })),
    );
    const key = await issueKey(records, { organizationId: ORGANIZATION, scopes: ['*'] }, systemClock);
    caller = callerOf(gateway.url, key);
    await prepareAudiences(caller);
  });

  const isComplete = async () => {
    // Several erasures may complete only with the next copy.
    await follower.run();
    const { body } = await caller.call('/api/contacts/erasures', { ...organization, limit: 1000 });
    return (body.erasures as { completed_at: string | null }[]).every(({ completed_at }) => completed_at);
  };

  it('leave no word of them in any file and any list once they are complete', async () => {
    const random = new Random(SEED);
    const persons: PersonHistory[] = [];
    for (let number = 0; number < PERSONS; number++) {
      persons.push(await livePerson(random, caller, organization));
      if (number === PERSONS >> 1) await follower.run();
    }
    await follower.run();
    for (const { request, steps } of persons) {
      const { status, text } = await caller.call('/api/contacts/erase', { ...organization, ...request });
      expect(status, `${steps.join(', ')}: ${text}`).to.equal(200);
    }
    await until(isComplete, 'every erasure is complete', { pollMs: 2000, timeoutMs: 400_000 });
    const tokens = persons.flatMap((person) => person.tokens);
    expect(await tokensInLists(caller, organization, tokens), 'in lists').to.deep.equal([]);
    const left = FOLDERS.flatMap((name) => {
      const folder = process.env[name];
      // The id stays in the feed of changes as a mark, for a week.
      const ids = persons.map(({ contactId }) => contactId).join();
      const gone = tokens.filter((token) => !ids.includes(token));
      const found = folder === undefined ? [] : filesWith(folder, tailsOf(gone));
      return found.map((where) => {
        const person = persons.find((each) => tailsOf(each.tokens).some((tail) => where.endsWith(tail)));
        return `${name}, ${where} after ${person?.steps.join(', ')}`;
      });
    });
    expect(left, 'in files').to.deep.equal([]);
  });
});
