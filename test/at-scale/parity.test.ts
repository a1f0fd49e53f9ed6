import { expect } from 'chai';
import {
  type FuzzRequest,
  randomRequest,
  remember,
  remembered,
  type Seen,
} from '../gateway/fuzz-requests.js';
import { Random } from '../gateway/fuzz-values.js';
import { describeRequest, type Received } from '../gateway/send.js';
import { Tally } from './parity/coverage.js';
import { drawnRequest } from './parity/drawn-requests.js';
import { dataSets, type Records } from './parity/records.js';
import { Twins } from './parity/store-pair.js';
import { atScale } from './start-gateway.js';

/** Of all data sets together. Another seed asks for other things. */
const REQUESTS = Number(process.env.TEST_PARITY_REQUESTS ?? 2000);
const SEED = process.env.TEST_SEED ?? 'reachline';
const NOW = Date.parse('2026-11-21T12:00:00Z');
const REPORTED = 5;
/** Few, so that they run out. */
const CREDITS = 60;
/** Records of one request to the intake. */
const BATCH = 5000;
/** Requests that need not fit anything. */
const RANDOM_SHARE = 0.25;
/** A search that is followed is read to its end in about so many pages. */
const PAGES = 6;

atScale(() => {
  const sets = dataSets('2026-11-21');
  describe('The embedded form and the form at scale', () => {
    for (const { title, records } of sets) {
      describe(`over ${title}`, () => {
        answersAlike(title, records, Math.ceil(REQUESTS / sets.length));
      });
    }
  });
});

function answersAlike(title: string, records: Records, requests: number): void {
  const random = new Random(`${SEED} ${title}`);
  const seen: Seen[] = [];
  const tally = new Tally();
  const differences: string[] = [];
  let twins: Twins;
  let asked = 0;

  before(async function () {
    this.timeout(120_000);
    twins = await Twins.start(NOW);
  });
  after(() => twins?.close());

  async function ask(request: FuzzRequest): Promise<Received> {
    const { embedded, difference } = await twins.ask(request);
    asked += 1;
    if (difference !== null) {
      differences.push(`seed ${SEED}, request ${asked}: ${describeRequest(request)}\n\n${difference}`);
    }
    return embedded;
  }

  function expectNoDifference(): void {
    if (differences.length > 0) throw new Error(`\n${differences.join('\n\n\n')}`);
  }

  it('take in the same records alike', async function () {
    this.timeout(300_000);
    for (const [stream, all] of Object.entries(records)) {
      for (let from = 0; from < all.length; from += BATCH) {
        const lines = all.slice(from, from + BATCH).map((record) => JSON.stringify(record));
        const { text } = await ask({
          method: 'POST',
          path: `/api/ingest/${stream}`,
          headers: { 'Content-Type': 'application/x-ndjson', 'X-Api-Key': twins.key },
          body: Buffer.from(lines.join('\n')),
        });
        expect(JSON.parse(text), text).to.include({ accepted: lines.length, rejected: 0 });
      }
    }
    await twins.setCredits(CREDITS);
    expectNoDifference();
  });

  it(`answer ${requests} random requests alike, byte for byte`, async function () {
    this.timeout(600_000);
    asked = 0;
    while (asked < requests && differences.length < REPORTED) {
      if (random.chance(RANDOM_SHARE)) await askOnce(randomRequest(random, twins.key, seen));
      else await askToTheEnd(drawnRequest(random, records, twins.made, twins.key));
    }
    console.log(tally.toString().replace(/^/gm, '        '));
    expectNoDifference();
    expectMuchFound();
  });

  it('refuse alike for every reason that a store can give', async function () {
    this.timeout(60_000);
    const contact = { organization_id: 'org_a', audience_id: records.audiences[0]?.id };
    const created = { ...contact, work_emails: ['refused@parity.example'] };
    for (const [path, body, status] of [
      ['/api/contacts/create', created, 200],
      ['/api/contacts/create?on_duplicate=reject', created, 409],
      ['/api/contacts/get', { organization_id: 'org_a', contact_id: 'con_nobody' }, 404],
      ['/api/audiences/get', { organization_id: 'org_a', audience_id: 'nothing' }, 404],
      ['/api/contacts/create', { ...created, age: 151 }, 422],
      [`/api/contacts/create?required_credits=${10_000}`, contact, 402],
    ] as const) {
      const headers = { 'Content-Type': 'application/json', 'X-Api-Key': twins.key };
      const answer = await ask({ method: 'POST', path, headers, body: Buffer.from(JSON.stringify(body)) });
      expect(answer.status, `${path}: ${answer.text}`).to.equal(status);
    }
    expectNoDifference();
  });

  async function askOnce(request: FuzzRequest): Promise<Received> {
    const answer = await ask(request);
    tally.count(request, answer);
    const page = remembered(request, answer);
    // What is done to a cursor is to be the same for both.
    if (page && twins.isShared(page.cursor)) remember(seen, page, asked);
    return answer;
  }

  /** Follows the cursors, each form its own. */
  async function askToTheEnd(request: FuzzRequest): Promise<void> {
    const { status, text } = await askOnce(request);
    if (status !== 200) return;
    const page = JSON.parse(text) as { total_count?: number; next_cursor?: string | null };
    if (typeof page.next_cursor !== 'string' || !random.chance(0.3)) return;
    const body = JSON.parse(request.body.toString()) as Record<string, unknown>;
    const limit = Math.min(1000, Math.ceil((page.total_count ?? 0) / PAGES));
    let cursor: string | null | undefined = page.next_cursor;
    while (typeof cursor === 'string' && differences.length === 0) {
      const next = { ...request, body: Buffer.from(JSON.stringify({ ...body, limit, cursor })) };
      const answer = await ask(next);
      tally.count(next, answer);
      cursor = (JSON.parse(answer.text) as { next_cursor?: string | null }).next_cursor;
    }
  }

  /** Empty answers and refusals are easily alike. */
  function expectMuchFound(): void {
    const floor = requests / 100;
    const counts = [...tally.operations.values()];
    for (const [path, { asked, found }] of tally.operations) {
      expect(asked, `requests of ${path}`).to.be.at.least(floor);
      expect(found, `answers of ${path} that hold records`).to.be.at.least(asked / 8);
    }
    expect(
      counts.reduce((sum, { found }) => sum + found, 0),
      'answers that hold records',
    ).to.be.at.least(requests / 2);
  }
}
