import { expect } from 'chai';
import { equivalentsPage } from './equivalents.js';
import { readDoc } from './support.js';

describe('docs/reference/equivalents.md', () => {
  it('describes the tables as they are (npm run docs writes it anew)', () => {
    expect(readDoc('docs/reference/equivalents.md')).to.equal(equivalentsPage());
  });
});
