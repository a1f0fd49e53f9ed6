import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'chai';
import { OPERATION_BODY, serveOperations } from '../support/app.js';
import { type Answer, callerOf, startTestGateway, useGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { expectProblem } from '../support/problems.js';
import { until } from '../support/until.js';

const organization = { organization_id: 'org_a' };
const SEARCH = '/api/contacts/search';

describe('A gateway whose records store has lost a table', () => {
  it('answers 503 for operations that need the table, and serves all others', async () => {
    const gateway = await startTestGateway();
    try {
      await gateway.ingest('website-visits', [{ id: 'v', createdAt: '2026-11-01T00:00:00Z' }]);
      const database = new DatabaseSync(join(gateway.dataDir, 'reachline.db'));
      database.exec('DROP TABLE visits');
      database.close();
      const answer = await gateway.call('/api/website-visits/search', organization);
      expectProblem(answer, 503, 'store_unavailable');
      const written = await gateway.ingest('website-visits', [
        { id: 'v', createdAt: '2026-11-01T00:00:00Z' },
      ]);
      expectProblem(written, 503, 'store_unavailable');
      expect((await gateway.call(SEARCH, organization)).status).to.equal(200);
    } finally {
      await gateway.close();
    }
  });
});

describe('An operation that fails', () => {
  const gateway = useGateway();
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const failing = async () => {
    throw new Error('SQLITE_ERROR: no such table: contacts at /services/x.ts:1');
  };
  const app = useOpened(() =>
    serveOperations(gateway.stores, {
      '/api/fails': failing,
      // Five such requests use everything that a key may hold.
      '/api/waits': { work: () => held.then(failing), slots: 100 },
      '/api/weighs': { work: failing, slots: 501 },
    }),
  );
  const hung = () => new Promise<never>(() => undefined);
  const impatient = useOpened(() =>
    serveOperations(gateway.stores, { '/api/hangs': hung }, { requestTimeoutMs: 100 }),
  );
  after(() => release());

  const call = (path: string, key = gateway.key, url = app.url): Promise<Answer> =>
    callerOf(url, key).call(path, undefined, { raw: OPERATION_BODY });

  it('with an unexpected error answers 500 without details', async () => {
    expectProblem(await call('/api/fails'), 500, 'internal');
  });

  it('answers 504 when it takes longer than a request may', async () => {
    const answer = await call('/api/hangs', gateway.key, impatient.url);
    expectProblem(answer, 504, 'timeout');
    expect(answer.headers.get('Retry-After')).to.equal(null);
  });

  it('answers 503 when it needs more slots than a key may hold', async () => {
    expectProblem(await call('/api/weighs'), 503, 'overloaded');
  });

  it('answers 503 overloaded above the limit of one key, and serves other keys', async () => {
    const other = await gateway.keyFor('org_b');
    const waiting = Array.from({ length: 6 }, () => call('/api/waits'));
    let rejected: Answer | undefined;
    await until(async () => {
      rejected = await call('/api/fails');
      return rejected.status !== 500;
    }, 'the slots of the key are taken');
    expectProblem(rejected as Answer, 503, 'overloaded');
    expect(rejected?.headers.get('Retry-After')).to.equal('1');
    expectProblem(await call('/api/fails', other), 500, 'internal');
    release();
    for (const answer of await Promise.all(waiting)) expect(answer.status).to.be.oneOf([500, 503]);
    expectProblem(await call('/api/fails'), 500, 'internal');
  });
});
