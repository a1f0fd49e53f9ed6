import { expect } from 'chai';
import { readExamples } from '../../services/gateway/examples.js';
import { responseExamples } from './response-examples.js';

describe('The examples of the OpenAPI document', () => {
  it('are what a gateway with the sample data answers (npm run docs writes them anew)', async () => {
    expect(readExamples()).to.deep.equal(await responseExamples());
  });
});
