import { expect } from 'chai';
import fc from 'fast-check';
import { type FuzzRequest, forgery, nextPage, randomRequest } from '../gateway/generated.js';
import { describeRequest, type Received } from '../gateway/send.js';
import { runs, SEED } from '../support/random.js';
import { Coverage, SERVED_ALIKE } from './parity/coverage.js';
import { drawnRequest } from './parity/drawn-requests.js';
import { parityRecords } from './parity/records.js';
import { GatewayPair } from './parity/store-pair.js';

const REQUESTS = runs(200);
const NOW = Date.parse('2026-11-21T12:00:00Z');
const MAX_DIFFERENCES = 5;
/** Few credits, so that they run out. */
const CREDITS = 60;
const RECORDS_PER_INGEST = 5000;
/** Mean number of pages of a search that is read to its end, which applies to three of ten searches. */
const PAGES_PER_SEARCH = 6;
const AT_ONCE = 50;

describe(`The embedded form and the form at scale (TEST_SEED=${SEED})`, () => {
  const records = parityRecords('2026-11-21');
  const coverage = new Coverage();
  const differences: string[] = [];
  /** Minimum number of requests per operation. */
  const floor = REQUESTS / 100;
  let pair: GatewayPair;
  let sentCount = 0;

  before(async function () {
    this.timeout(120_000);
    pair = await GatewayPair.start(NOW);
  });
  after(() => pair?.close());

  async function sendToBoth(request: FuzzRequest): Promise<Received> {
    const { embedded, difference } = await pair.send(request);
    sentCount += 1;
    if (difference !== null) {
      differences.push(`seed ${SEED}, request ${sentCount}: ${describeRequest(request)}\n\n${difference}`);
    }
    return embedded;
  }

  function expectNoDifference(): void {
    if (differences.length > 0) throw new Error(`\n${differences.join('\n\n\n')}`);
  }

  it('accepts the same records in both forms', async function () {
    this.timeout(300_000);
    for (const [stream, all] of Object.entries(records)) {
      for (let from = 0; from < all.length; from += RECORDS_PER_INGEST) {
        const lines = all.slice(from, from + RECORDS_PER_INGEST).map((record) => JSON.stringify(record));
        const { text } = await sendToBoth({
          method: 'POST',
          path: `/api/ingest/${stream}`,
          headers: { 'Content-Type': 'application/x-ndjson', 'X-Api-Key': pair.key },
          body: Buffer.from(lines.join('\n')),
        });
        expect(JSON.parse(text), text).to.include({ accepted: lines.length, rejected: 0 });
      }
    }
    await pair.setCredits(CREDITS);
    expectNoDifference();
  });

  it(`answers ${REQUESTS} random requests byte for byte alike in both forms`, async function () {
    this.timeout(runs(600_000));
    sentCount = 0;
    // One of four requests need not match any record.
    const drawn = fc.oneof(
      { weight: 1, arbitrary: fc.tuple(randomRequest(pair.key, SERVED_ALIKE), forgery, fc.constant(false)) },
      {
        weight: 3,
        arbitrary: fc.tuple(
          drawnRequest(records, pair.createdIds, pair.key),
          forgery,
          fc.nat(9).map((number) => number < 3),
        ),
      },
    );
    const erasures = drawnRequest(records, pair.createdIds, pair.key, true);
    // Erasures are planned, not drawn: every process must know of an erasure before it responds, which takes a second.
    let planned = 0;
    const isErasureDue = () => planned < 1 + (sentCount / REQUESTS) * floor;
    while (sentCount < REQUESTS && differences.length < MAX_DIFFERENCES) {
      if (isErasureDue()) {
        planned += 1;
        for (const request of fc.sample(erasures, { seed: SEED + sentCount, numRuns: 1 }))
          await sendOnce(request);
      }
      // Draws a few requests at a time: later requests use ids that earlier requests created.
      for (const [request, forge, toEnd] of fc.sample(drawn, { seed: SEED + sentCount, numRuns: AT_ONCE })) {
        const response = await sendOnce(request);
        if (toEnd) await sendToEnd(request, response);
        // A forged cursor must be the same for both.
        else await sendForged(request, response, forge);
      }
    }
    console.log(coverage.toString().replace(/^/gm, '        '));
    expectNoDifference();
    expectMuchFound();
  });

  async function sendOnce(request: FuzzRequest): Promise<Received> {
    const response = await sendToBoth(request);
    coverage.count(request, response);
    return response;
  }

  async function sendForged(request: FuzzRequest, response: Received, forge: (cursor: string) => string) {
    const next = nextPage(request, response, (cursor) => (pair.isShared(cursor) ? forge(cursor) : cursor));
    if (next) await sendOnce(next);
  }

  /** Follows the cursors, each store with its own. */
  async function sendToEnd(request: FuzzRequest, response: Received): Promise<void> {
    const { total_count = 0 } = JSON.parse(response.text) as { total_count?: number };
    const limit = Math.min(1000, Math.ceil(total_count / PAGES_PER_SEARCH));
    for (let next = nextPage(request, response, undefined, { limit }); next && differences.length === 0; ) {
      next = nextPage(request, await sendOnce(next), undefined, { limit });
    }
  }

  /** Empty responses and rejections are always equal, so there must be few. */
  function expectMuchFound(): void {
    const counts = [...coverage.operations.values()];
    // By day, the requests are too few for each operation to be drawn often.
    for (const [path, { sent, found }] of runs(1) > 1 ? coverage.operations : []) {
      expect(sent, `requests of ${path}`).to.be.at.least(floor);
      expect(found, `responses of ${path} with records`).to.be.at.least(sent / 8);
    }
    expect(
      counts.reduce((sum, { found }) => sum + found, 0),
      'responses with records',
    ).to.be.at.least(REQUESTS / 2);
  }
});
