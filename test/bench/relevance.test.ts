import { expect } from 'chai';
import { relevanceOf, startJudgedGateway } from '../../bench/relevance/ask.js';
import { forgivingQueries, judgedQueries, rightIds } from '../../bench/relevance/judged-query.js';
import { RECORD_SETS } from '../../bench/relevance/record-sets.js';

/** Just below what the search reaches: raise it with the search, never lower it. */
const MIN_SUCCESS_AT_1 = 0.98;

describe('Relevance', () => {
  it('is judged by queries that each have a right record', () => {
    const withoutRight = [...judgedQueries(), ...forgivingQueries()].filter(
      (judged) => rightIds(judged, RECORD_SETS[judged.set]).size === 0,
    );
    expect(withoutRight).to.deep.equal([]);
  });

  it(`puts a right record first for at least ${MIN_SUCCESS_AT_1} of both sets of queries`, async function () {
    this.timeout(60_000);
    const gateway = await startJudgedGateway();
    try {
      for (const queries of [judgedQueries(), forgivingQueries()]) {
        const answers = await gateway.ask(queries);
        const { successAt1 } = relevanceOf(answers);
        const misses = answers.filter(({ isFirst }) => !isFirst).map(({ judged }) => judged.query);
        expect(successAt1, `missed: ${misses.join(' | ')}`).to.be.at.least(MIN_SUCCESS_AT_1);
      }
    } finally {
      await gateway.close();
    }
  });
});
