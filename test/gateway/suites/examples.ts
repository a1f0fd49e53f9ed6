import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadDemo } from '../../../services/demo/load.js';
import { endpoints } from '../../../services/gateway/api.js';
import { packageRoot } from '../../../services/shared/fs.js';
import { gatewaySuite, type TestGateway } from '../../support/gateway.js';

/** The request of the README, and the answer printed below it, in which `…` stands for any text. */
function readmeExample(): { path: string; body: object; answer: object } {
  const page = readFileSync(join(packageRoot, 'README.md'), 'utf8');
  const [, path = ''] = /8080(\/api\S+)/.exec(page) ?? [];
  const [, body = ''] = /-d '([^']+)'/.exec(page) ?? [];
  const [, answer = ''] = /```json\n([^`]+)```/.exec(page) ?? [];
  return { path, body: JSON.parse(body), answer: JSON.parse(answer) };
}

/** Whether `actual` holds all that `expected` names; lists of the same length. */
function expectIncludes(actual: unknown, expected: unknown, pointer = ''): void {
  if (expected === '…') expect(actual, pointer).to.be.a('string');
  else if (typeof expected !== 'object' || expected === null) expect(actual, pointer).to.equal(expected);
  else {
    if (Array.isArray(expected)) expect(actual, pointer).to.have.lengthOf(expected.length);
    for (const [name, value] of Object.entries(expected)) {
      expectIncludes((actual as Record<string, unknown>)[name], value, `${pointer}/${name}`);
    }
  }
}

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

  it('of the README gets the answer that is printed below it', async () => {
    const { path, body, answer: expected } = readmeExample();
    const answer = await gateway.call(path, body, { key });
    expect(answer.status, answer.text).to.equal(200);
    expectIncludes(answer.body, expected);
  });

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
