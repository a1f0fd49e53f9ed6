import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { relevanceOf, startJudgedGateway } from '../../bench/relevance/ask.js';
import { drawQueries } from '../../bench/relevance/draw.js';
import { DRAWN, judgedQueries, rightIds } from '../../bench/relevance/judged-query.js';
import { RECORD_SETS } from '../../bench/relevance/record-sets.js';

/** Just below what the search reaches: raise it with the search, never lower it. */
const MIN_SUCCESS_AT_1 = 0.98;

describe('Relevance', () => {
  it('is judged by at least 300 different queries, each with a right record', () => {
    const queries = judgedQueries();
    const asked = queries.map(({ set, operation, query, filters }) =>
      JSON.stringify([set, operation, query, filters]),
    );
    expect(new Set(asked).size).to.be.at.least(300);
    const withoutRight = queries.filter((judged) => rightIds(judged, RECORD_SETS[judged.set]).size === 0);
    expect(withoutRight).to.deep.equal([]);
  });

  it('is judged by the queries that the script draws from the records of today', () => {
    const drawn = drawQueries().map((judged) => `${JSON.stringify(judged)}\n`);
    expect(readFileSync(DRAWN, 'utf8') === drawn.join(''), 'run node dist/bench/relevance/draw.js').to.equal(
      true,
    );
  });

  it(`puts a right record first for at least ${MIN_SUCCESS_AT_1} of the judged queries`, async function () {
    this.timeout(60_000);
    const gateway = await startJudgedGateway();
    try {
      const answers = await gateway.ask(judgedQueries());
      const { successAt1 } = relevanceOf(answers);
      const misses = answers.filter(({ isFirst }) => !isFirst).map(({ judged }) => judged.query);
      expect(successAt1, `missed: ${misses.join(' | ')}`).to.be.at.least(MIN_SUCCESS_AT_1);
    } finally {
      await gateway.close();
    }
  });
});
