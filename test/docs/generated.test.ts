import { expect } from 'chai';
import { readFigures, withFigures } from '../../bench/page.js';
import { readExamples } from '../../services/gateway/examples.js';
import { configurationPage } from './configuration.js';
import { equivalentsPage } from './equivalents.js';
import { operationFacts } from './operation-facts.js';
import { operationsPage } from './operations.js';
import { responseExamples } from './response-examples.js';
import { readDoc } from './support.js';

describe('What npm run docs writes', () => {
  for (const [path, page] of [
    ['docs/operating/configuration.md', configurationPage],
    ['docs/reference/equivalents.md', equivalentsPage],
    ['docs/reference/operations.md', operationsPage],
    ['services/client/operation-facts.ts', operationFacts],
  ] as const) {
    it(`is ${path} as it is`, () => {
      expect(readDoc(path)).to.equal(page());
    });
  }

  it('are the examples of the OpenAPI document, which a gateway with the sample data answers', async () => {
    expect(readExamples()).to.deep.equal(await responseExamples());
  });
});

describe('The tables of docs/performance.md', () => {
  const page = readDoc('docs/performance.md');

  it('say what bench/figures.json has', () => {
    expect(withFigures(page, readFigures())).to.equal(page);
  });

  it('have a row for each figure, bold or named where its target is missed, in a table of its records beside a peer', () => {
    const alone = { name: 'a new one', unit: 'ms', value: 11, target: '≤ 10', met: false };
    const beside = { unit: 'µs', ours: 3, base: 2, ratio: 1.5, rounds: 5, target: '≤ 1', met: false };
    const changed = withFigures(page, [alone, { ...beside, name: 'work ÷ PostgreSQL, 100,000 contacts' }]);
    expect(changed).to.contain('\n| a new one | 11.00 ms | ≤ 10, missed |\n');
    expect(changed).to.contain(
      '\n| 100,000 contacts, µs | PostgreSQL |\n|---|---|\n| work | **1.50** (2) |\n',
    );
  });
});
