import { Agent, type IncomingHttpHeaders, request as sendRequest } from 'node:http';
import { expect } from 'chai';
import { gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { checkIntakeResponse, problemFaults, responseCheck, storeWords } from '../../support/schema-check.js';
import { type FuzzRequest, randomRequest, type Seen } from '../fuzz-requests.js';
import { Random } from '../fuzz-values.js';

/** Another seed finds other bugs: TEST_FUZZ_SEED and TEST_FUZZ_REQUESTS choose. */
const SEED = process.env.TEST_FUZZ_SEED ?? 'reachline';
const REQUESTS = process.env.TEST_FUZZ_REQUESTS;
const AT_ONCE = 12;
const REMEMBERED = 200;
const REPORTED = 5;

interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

function send(url: string, agent: Agent, { method, path, headers, body }: FuzzRequest): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      `${url}/`,
      { agent, method, path, headers: { ...headers, 'Content-Length': body.length } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, text: Buffer.concat(chunks).toString() });
        });
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** What of an answer breaks the contract. */
function faultsOf({ method, path }: FuzzRequest, { status, headers, text }: Received): string[] {
  const id = headers['x-request-id'];
  if (typeof id !== 'string' || id === '') return ['there is no X-Request-Id'];
  if (status >= 500) return [`the status is ${status}`];
  if (method === 'HEAD') return [];
  const words = storeWords(text);
  if (words !== null) return [`it gives away …${words}…`];
  const type = headers['content-type'];
  if (status === 200) {
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

function describeRequest({ method, path, headers, body }: FuzzRequest): string {
  const { 'X-Api-Key': _, ...shown } = headers;
  const text = body.length > 1500 ? `${body.subarray(0, 1500).toString('latin1')}…` : body.toString('latin1');
  return `${method} ${path} ${JSON.stringify(shown)}\n${JSON.stringify(text)} (as Latin-1)`;
}

async function load(gateway: TestGateway): Promise<void> {
  const numbers = Array.from({ length: 120 }, (_, number) => number);
  const streams: Record<string, object[]> = {
    audiences: numbers.map((number) => ({ id: `aud_${number}`, name: `Audience ${number} maria` })),
    contacts: numbers.map((number) => ({
      contact_id: `con_${number}`,
      first_name: number % 2 ? 'Maria' : 'José',
      last_name: `Cantwell ${number}`,
      work_emails: [`maria${number}@example.com`],
      phones: ['+1 (202) 224-3441'],
      company_domain: 'example.com',
      country: 'United States',
      network_a_url: `https://www.linkedin.com/in/maria-${number}`,
      audience_ids: ['aud_1', `aud_${number}`],
    })),
    'website-visits': numbers.map((number) => ({
      id: `v${number}`,
      createdAt: '2026-11-01T00:00:00Z',
      ipAddress: `192.0.2.${number}`,
      browser: 'Chrome Mobile',
      country: 'US',
    })),
    'network-a-campaigns': [1, 2].map((number) => ({
      id: `cam_${number}`,
      name: `C ${number}`,
      status: 'ACTIVE',
      currency: 'USD',
      daily_budget: '10.5',
    })),
    'network-a-creatives': [{ id: 'cre_1', campaign_id: 'cam_1', name: 'K' }],
    'network-a-companies': [1, 2].map((number) => ({
      id: `co_${number}`,
      network_a_company_id: `${number}000`,
      name: 'Acme',
      domain: 'example.com',
    })),
    'network-a-deliveries': numbers.map((number) => ({
      date: `2026-${number < 60 ? '10' : '11'}-${String((number % 30) + 1).padStart(2, '0')}`,
      campaign_id: `cam_${(number % 3) + 1}`,
      ...(number % 2 ? { creative_id: 'cre_1', ad_spend: '1.01' } : { company_id: `co_${(number % 4) + 1}` }),
      impressions: number,
      clicks: 1,
    })),
  };
  for (const [stream, records] of Object.entries(streams)) {
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

    it(`answers ${count} of them as documented, whatever they hold`, async function () {
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
          remember(seen, request, answer, number);
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (failures.length > 0) throw new Error(`seed ${SEED}\n\n${failures.join('\n\n')}`);
      // Requests that are all refused would test little.
      expect(statuses.get(200), JSON.stringify([...statuses])).to.be.above(count / 5);
      for (const status of [400, 401, 404, 415, 422]) expect([...statuses.keys()]).to.include(status);
    });

    it('still answers as before', async () => {
      const answer = await gateway.call('/api/contacts/get', {
        organization_id: 'org_a',
        contact_id: 'con_7',
      });
      expect(answer.status, answer.text).to.equal(200);
      expect((await gateway.call('/readyz', undefined, { method: 'GET' })).status).to.equal(200);
    });
  });

function remember(seen: Seen[], request: FuzzRequest, { status, text }: Received, number: number): void {
  if (status !== 200 || !request.path.endsWith('/search')) return;
  const { next_cursor: cursor } = JSON.parse(text) as { next_cursor?: string | null };
  if (typeof cursor !== 'string') return;
  // The decoder drops a byte order mark, as the gateway does.
  const body = JSON.parse(new TextDecoder().decode(request.body)) as Record<string, unknown>;
  const page = { path: request.path, body, cursor };
  if (seen.length < REMEMBERED) seen.push(page);
  else seen[number % REMEMBERED] = page;
}
