import { Agent } from 'node:http';
import { expect } from 'chai';
import { gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { checkIntakeResponse, problemFaults, responseCheck, storeWords } from '../../support/schema-check.js';
import { fuzzRecords } from '../fuzz-records.js';
import { type FuzzRequest, randomRequest, remember, remembered, type Seen } from '../fuzz-requests.js';
import { Random } from '../fuzz-values.js';
import { describeRequest, type Received, send } from '../send.js';

/** Another seed finds other bugs: TEST_FUZZ_SEED and TEST_FUZZ_REQUESTS choose. */
const SEED = process.env.TEST_FUZZ_SEED ?? 'reachline';
const REQUESTS = process.env.TEST_FUZZ_REQUESTS;
const AT_ONCE = 12;
const REPORTED = 5;

const EXPORT = /^(?:text\/csv|application\/x-ndjson); charset=utf-8$/;

/** What of an answer breaks the contract. */
function faultsOf(
  { method, path, headers: sent }: FuzzRequest,
  { status, headers, text }: Received,
): string[] {
  const id = headers['x-request-id'];
  if (typeof id !== 'string' || id === '') return ['there is no X-Request-Id'];
  if (status >= 500) return [`the status is ${status}`];
  if (method === 'HEAD') return [];
  const words = storeWords(text);
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

export const randomRequests = (defaultCount: number) =>
  gatewaySuite('The gateway under random requests', (start) => {
    const count = Number(REQUESTS ?? defaultCount);
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

    it(`answers ${count} random requests as documented`, async function () {
      this.timeout(600_000);
      const random = new Random(SEED);
      const seen: Seen[] = [];
      const statuses = new Map<number, number>();
      const failures: string[] = [];
      let next = 0;

      async function work(): Promise<void> {
        while (next < count) {
          const number = next++;
          const request = randomRequest(random, gateway.key, seen);
          let faults: string[];
          let answer: Received = { status: 0, headers: {}, text: '' };
          try {
            answer = await send(gateway.url, agent, request);
            faults = faultsOf(request, answer);
          } catch (error) {
            faults = [`no answer: ${String(error)}`];
          }
          if (faults.length > 0) {
            const what = `request ${number}: ${faults.slice(0, 5).join('; ')}`;
            failures.push(`${what}\n${describeRequest(request)}\n${answer.text.slice(0, 1500)}`);
            if (failures.length === REPORTED) next = count;
          }
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const page = remembered(request, answer);
          if (page) remember(seen, page, number);
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (failures.length > 0) throw new Error(`seed ${SEED}\n\n${failures.join('\n\n')}`);
      // Requests that are all rejected would test little.
      expect(statuses.get(200), JSON.stringify([...statuses])).to.be.above(count / 5);
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
