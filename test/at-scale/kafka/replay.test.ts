import { expect } from 'chai';
import { groupOf, topicOf } from '../../../ingest/sources/kafka/topics.js';
import { HEADER, headerText } from '../../../ingest/worker/dead-letters.js';
import { run } from '../../cli/support.js';
import { actualDeliveries, expectSame } from './actual.js';
import { useWorkers } from './workers.js';

const STREAM = 'network-a-deliveries';
const COUNT = 2000;
const MOST_CLICKS = 100;

describe('dead letters of a worker', function () {
  this.timeout(120_000);
  const test = useWorkers();

  /** One in a hundred has more clicks than the table accepts. */
  const records = Array.from({ length: COUNT }, (_, index) => {
    const clicks = index % 100 === 50 ? MOST_CLICKS + index : index % MOST_CLICKS;
    const creative_id = `r${index}`;
    const key = `org_a/2026-06-01/c1/${creative_id}`;
    const record = {
      organization_id: 'org_a',
      date: '2026-06-01',
      campaign_id: 'c1',
      creative_id,
      impressions: 1000,
      clicks,
      ad_spend: '2.50',
      reported_at: '2026-06-02T00:00:00Z',
    };
    return {
      key,
      value: JSON.stringify(record),
      headers: { trace: creative_id },
      state: `1000|${clicks}|2.50`,
      clicks,
    };
  });
  const rejected = records.filter(({ clicks }) => clicks > MOST_CLICKS);
  const states = (of: typeof records) => new Map(of.map(({ key, state }) => [key, state]));
  const command = (...args: string[]) => run(['dead-letters', ...args], { env: test.workers.environment });
  const change = (what: string) =>
    test.database.client.command({
      query: `ALTER TABLE ${test.database.config.database}_tables.creative_deliveries ${what}`,
    });

  it('are found one by one among good records that the store rejects, keep their order, and overwrite no newer record', async () => {
    const { database, topics, workers } = test;
    await change(`ADD CONSTRAINT few CHECK clicks <= ${MOST_CLICKS}`);
    await workers.start([STREAM]);
    await topics.produce(STREAM, records);
    await workers.drained(STREAM);
    const letters = await topics.deadLetters(STREAM);
    const actual = letters.map(({ key, headers }) => [
      key?.toString(),
      headerText(headers, 'trace'),
      headerText(headers, HEADER.stage),
      headerText(headers, HEADER.code),
      headerText(headers, HEADER.attempts),
    ]);
    const expected = rejected.map(({ key, headers }) => [key, headers.trace, 'write', 'not_storable', '1']);
    expect(actual.sort()).to.deep.equal(expected.sort());
    expectSame(
      await actualDeliveries(database.config, ['org_a']),
      states(records.filter((each) => !rejected.includes(each))),
    );

    const bodies = ['2026-06-02T00:00:00Z', undefined].map((reported_at, index) => ({
      organization_id: 'org_a',
      date: '2026-06-01',
      campaign_id: 'c1',
      creative_id: `late${index}`,
      impressions: 1000,
      ad_spend: '2.50',
      reported_at,
    }));
    const sent = (clicks: number) =>
      bodies.map((body) => ({
        key: `org_a/2026-06-01/c1/${body.creative_id}`,
        value: JSON.stringify({ ...body, clicks }),
      }));
    await topics.produce(STREAM, sent(MOST_CLICKS + 1));
    await topics.produce(STREAM, sent(MOST_CLICKS + 2));
    await topics.produce(STREAM, sent(1));
    await workers.drained(STREAM);
    // They are rejected again, and still keep their order.
    expect((await command('replay')).stdout).to.match(/^24 records sent again\./);
    await workers.drained(STREAM);
    await change('DROP CONSTRAINT few');
    expect((await command('replay')).stdout).to.match(/^24 records sent again\./);
    await workers.drained(STREAM);
    const after = await actualDeliveries(database.config, ['org_a']);
    for (const { key } of sent(1)) expect(after.get(key), key).to.equal('1000|1|2.50');
    for (const { key, state } of rejected) expect(after.get(key), key).to.equal(state);

    const [first, second] = (await topics.deadLetters(STREAM))
      .filter(({ key }) => key?.toString().endsWith('late0'))
      .map(({ headers }) => ({
        attempts: headerText(headers, HEADER.attempts),
        order: [HEADER.acceptedAt, HEADER.sequence].map((name) => headerText(headers, name)),
        offset: headerText(headers, HEADER.offset),
        partition: headerText(headers, HEADER.partition),
      }))
      .filter((_, index) => index % 2 === 0);
    expect(first?.attempts).to.equal('1');
    expect(first?.order[1]).to.equal(`${first?.offset}${first?.partition.padStart(3, '0')}`);
    expect(second?.attempts).to.equal('2');
    expect(second?.order).to.deep.equal(first?.order);
    expect(second?.offset).to.not.equal(first?.offset);
  });

  it('are also records that block their partition, which are skipped up to an offset while no worker runs', async () => {
    const { topics } = test;
    const blocking = Array.from({ length: 5 }, (_, index) => ({ key: 'same', value: `record ${index}` }));
    await topics.produce(STREAM, blocking);
    const lag = await topics.cluster.lag(groupOf(topics.config, STREAM), topicOf(topics.config, STREAM));
    const [partition] = [...lag].find(([, behind]) => behind > 0n) ?? [];
    const skip = ['skip', '--stream', STREAM, '--partition', String(partition), '--offset', '2'];
    expect((await command(...skip, '--dry-run')).stdout).to.equal('3 records would be skipped.\n');
    expect(await topics.behind(STREAM)).to.equal(5);
    expect((await command(...skip)).stdout).to.match(/^3 records skipped/);
    expect(await topics.behind(STREAM)).to.equal(2);
    const skipped = (await topics.deadLetters(STREAM)).map(({ value }) => String(value));
    expect(skipped).to.deep.equal(['record 0', 'record 1', 'record 2']);
    expect(await command(...skip)).to.include({ code: 1 });
  });
});
