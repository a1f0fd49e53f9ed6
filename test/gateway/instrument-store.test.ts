import { expect } from 'chai';
import { Histogram, Registry } from 'prom-client';
import { instrumentStore } from '../../services/gateway/instrument-store.js';

class Store {
  readonly preferredBatchSize = 7;
  #calls = 0;

  async call(error?: Error): Promise<number> {
    if (error) throw error;
    return ++this.#calls;
  }
}

describe('an instrumented store', () => {
  it('counts each call by outcome, and adds its time to that of the request', async () => {
    const histogram = new Histogram({
      name: 'seconds',
      help: 'Test.',
      labelNames: ['store', 'operation', 'outcome'],
      registers: [new Registry()],
    });
    const timing = { storeMs: 0 };
    const store = instrumentStore(new Store(), 'records', histogram)(timing);
    expect(await store.call()).to.equal(1);
    expect(store.preferredBatchSize).to.equal(7);
    for (const error of [new Error('failed'), new DOMException('aborted', 'AbortError')]) {
      expect(await store.call(error).catch((reason: unknown) => reason)).to.equal(error);
    }
    const { values } = await histogram.get();
    const counts = values.filter(({ metricName }) => metricName === 'seconds_count');
    expect(counts.map(({ labels, value }) => [labels.operation, labels.outcome, value])).to.deep.equal([
      ['call', 'ok', 1],
      ['call', 'failed', 1],
      ['call', 'aborted', 1],
    ]);
    expect(timing.storeMs).to.be.greaterThan(0);
  });
});
