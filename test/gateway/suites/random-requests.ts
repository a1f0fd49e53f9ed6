import { Agent } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { runs, SEED } from '../../support/random.js';
import { checkIntakeResponse, problemFaults, responseCheck, storeWords } from '../../support/schema-check.js';
import { fuzzRecords } from '../fuzz-records.js';
import { type FuzzRequest, forgery, nextPage, randomRequest } from '../generated.js';
import { describeRequest, type Received, send } from '../send.js';

const AT_ONCE = 12;

const EXPORT = /^(?:text\/csv|application\/x-ndjson); charset=utf-8$/;

/** Ways in which a response breaks the contract. */
function faultsOf(
  { method, path, headers: sent }: FuzzRequest,
  { status, headers, text }: Received,
): string[] {
  const id = headers['x-request-id'];
  if (typeof id !== 'string' || id === '') return ['there is no X-Request-Id'];
  if (status >= 500) return [`the status is ${status}`];
  if (method === 'HEAD') return [];
  // Errors of SQL statements may use words of the engine.
  const words = status === 422 && path.startsWith('/api/sql') ? null : storeWords(text);
  if (words !== null) return [`it gives away …${words}…`];
  const type = headers['content-type'];
  if (status === 200) {
    if (EXPORT.test(type ?? '') && /text|ndjson/i.test(sent.Accept ?? '')) return [];
    if (type !== 'application/json; charset=utf-8') return [`the type is ${type}`];
    const route = (path.split('?')[0] as string).replace(/\/$/, '');
    const check = route.startsWith('/api/ingest/') ? checkIntakeResponse : responseCheck.get(route);
    if (!check) return [`${route} answers 200`];
    return check(JSON.parse(text)).map(({ pointer, detail }) => `${pointer} ${detail}`);
  }
  if (type !== 'application/problem+json; charset=utf-8') return [`the type is ${type}`];
  const problem = JSON.parse(text) as Record<string, unknown>;
  const faults = problemFaults(status, problem);
  if (problem.request_id !== id) faults.push('request_id is not that of the header');
  return faults;
}

async function load(gateway: TestGateway): Promise<void> {
  for (const [stream, records] of Object.entries(fuzzRecords)) {
    const answer = await gateway.ingest(stream, records);
    expect(answer.body, answer.text).to.include({ accepted: records.length, rejected: 0 });
  }
}

export const randomRequests = (defaultRuns: number) =>
  gatewaySuite('The gateway under random requests', (start) => {
    const numRuns = runs(defaultRuns);
    let gateway: TestGateway;
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    before(async () => {
      gateway = await start();
      await load(gateway);
    });
    after(async () => {
      agent.destroy();
      await gateway.close();
    });

    it(`answers random requests as documented (TEST_SEED=${SEED})`, async function () {
      this.timeout(600_000);
      const statuses = new Map<number, number>();

      async function check(request: FuzzRequest): Promise<Received> {
        const answer = await send(gateway.url, agent, request);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        const faults = faultsOf(request, answer);
        expect(faults, `${describeRequest(request)}\n${answer.text.slice(0, 1500)}`).to.deep.equal([]);
        return answer;
      }
      const requests = fc.array(fc.tuple(randomRequest(gateway.key), forgery), {
        minLength: 1,
        maxLength: AT_ONCE,
        size: 'max',
      });
      await fc.assert(
        fc.asyncProperty(requests, (all) =>
          Promise.all(
            all.map(async ([request, forge]) => {
              const next = nextPage(request, await check(request), forge);
              if (next) await check(next);
            }),
          ).then(() => undefined),
        ),
        { seed: SEED, numRuns },
      );
      // If all requests were rejected, the test would check little.
      const sent = [...statuses.values()].reduce((sum, count) => sum + count, 0);
      expect(statuses.get(200), JSON.stringify([...statuses])).to.be.above(sent / 5);
      for (const status of [400, 401, 404, 415, 422]) expect([...statuses.keys()]).to.include(status);
    });

    it('serves requests as before', async () => {
      const answer = await gateway.call('/api/contacts/get', {
        organization_id: 'org_a',
        contact_id: 'con_7',
      });
      expect(answer.status, answer.text).to.equal(200);
      expect((await gateway.call('/readyz', undefined, { method: 'GET' })).status).to.equal(200);
    });
  });
