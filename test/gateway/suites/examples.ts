import { expect } from 'chai';
import { loadDemo } from '../../../services/demo/load.js';
import { endpoints } from '../../../services/gateway/api.js';
import { gatewaySuite, type TestGateway } from '../../support/gateway.js';

export const examples = gatewaySuite('The example of each operation, on the sample data', (start) => {
  let gateway: TestGateway;
  let key: string;
  before(async function () {
    this.timeout(120_000);
    gateway = await start();
    await loadDemo(gateway.stores, { now: Date.now() });
    key = await gateway.keyFor('org_demo');
  });
  after(() => gateway.close());

  for (const { path, example } of endpoints) {
    it(`of ${path} answers`, async () => {
      const answer = await gateway.call(path, example, { key });
      expect(answer.status, answer.text.slice(0, 500)).to.equal(200);
      const list = ['contacts', 'audiences', 'visits', 'items']
        .map((name) => answer.body[name])
        .find(Array.isArray);
      if (list) expect(list).not.to.have.length(0);
    });
  }
});
