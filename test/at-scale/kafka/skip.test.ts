import { expect } from 'chai';
import { groupOf, topicOf } from '../../../ingest/sources/kafka/topics.js';
import { HEADER, headerText } from '../../../ingest/worker/dead-letters.js';
import { run } from '../../cli/support.js';
import { testTopics } from './topics.js';

const STREAM = 'contacts';

describe('Records that block their partition', () => {
  it('are skipped up to an offset, and nothing is lost', async () => {
    const topics = await testTopics();
    const { cluster, config, environment } = topics;
    await topics.produce(
      STREAM,
      Array.from({ length: 5 }, (_, index) => ({ key: 'same', value: `record ${index}` })),
    );
    const lag = await cluster.lag(groupOf(config, STREAM), topicOf(config, STREAM));
    const [partition] = [...lag].find(([, behind]) => behind > 0n) ?? [];
    const skip = (offset: number, ...more: string[]) => {
      const place = ['--partition', String(partition), '--offset', String(offset)];
      return run(['dead-letters', 'skip', '--stream', STREAM, ...place, ...more], { env: environment });
    };
    expect((await skip(2, '--dry-run')).stdout).to.equal('3 records would be skipped.\n');
    expect(await topics.behind(STREAM)).to.equal(5);
    const { code, stdout, stderr } = await skip(2);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^3 records skipped/);
    expect(await topics.behind(STREAM)).to.equal(2);
    const skipped = (await topics.deadLetters(STREAM)).filter(
      ({ headers }) => headerText(headers, HEADER.code) === 'skipped',
    );
    expect(skipped.map(({ value }) => String(value))).to.deep.equal(['record 0', 'record 1', 'record 2']);
    expect(await skip(2)).to.include({ code: 1 });
  });
});
