import { expect } from 'chai';
import { RECORD_EXAMPLES, RESPONSE_EXAMPLES } from '../../services/gateway/examples.js';
import { responseExamples } from './response-examples.js';

describe('The examples of the OpenAPI document', () => {
  it('are what a gateway with the sample data answers (npm run docs writes them anew)', async () => {
    const { records, responses } = await responseExamples();
    expect(RECORD_EXAMPLES).to.deep.equal(records);
    expect(RESPONSE_EXAMPLES).to.deep.equal(responses);
  });
});
