/**
 * Counts how much a loop handles between two turns of the event loop. The test measures no time: its clock has moved on by a second at
 * every look, as on a very slow machine, so each look must end in a turn.
 */
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { ingestText } from '../../ingest/pipeline.js';
import { presetMapping } from '../../ingest/presets/named-mappings.js';
import { mapText, openText } from '../../ingest/sources/text.js';
import { STREAMS } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { serialize } from '../../services/http/serialize.js';
import { acceptedByLine } from '../../services/shared/record-order.js';
import { systemClock } from '../../services/shared/time.js';
import { toResult } from '../../services/stores/clickhouse/result.js';
import type { Stores } from '../../services/stores/open-stores.js';
import { useOpened } from '../support/opened.js';
import { openTemporaryStores } from '../support/temporary-stores.js';

/** Limits between two turns: items of any size, and bytes of large items. */
const MAX_ITEMS = 16;
const MAX_BYTES = 16 * 1024;
const COUNT = 1600;

/** Turns that the event loop makes while `work` runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  const { now } = performance;
  let time = now.call(performance);
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  performance.now = () => {
    time += 1000;
    return time;
  };
  try {
    setImmediate(count);
    await work();
    return turns;
  } finally {
    isOver = true;
    performance.now = now;
  }
}

describe('Between two turns of the event loop', () => {
  const stores = useOpened<Stores>(openTemporaryStores);
  const line = (index: number, pad = '') =>
    JSON.stringify({ contact_id: `turn${index}`, company_image_url: pad });
  const contacts = (pad = '') => Array.from({ length: COUNT }, (_, index) => line(index, pad));
  const ingest = (lines: string[]) =>
    ingestText({
      stream: STREAMS.contacts as Stream,
      stores,
      source: Readable.from([Buffer.from(lines.join('\n'))]),
      format: 'ndjson',
      organizationId: 'org_a',
      acceptance: acceptedByLine(systemClock),
    });

  it('ingest decodes at most 16 small records', async () => {
    let accepted = 0;
    const turns = await turnsDuring(async () => {
      accepted = (await ingest(contacts())).accepted;
    });
    expect(accepted).to.equal(COUNT);
    expect(turns).to.be.at.least(COUNT / MAX_ITEMS);
  });

  it('ingest decodes at most 16 KiB of large records', async () => {
    const turns = await turnsDuring(() => ingest(contacts('x'.repeat(2000))));
    expect(turns).to.be.at.least(Math.floor((COUNT * 2000) / MAX_BYTES));
  });

  it('one row of a wide table is read, renamed or mapped', async () => {
    const rows = 50;
    const others = Array.from({ length: 3000 }, (_, index) => `Col ${index}`);
    const lines = [['record id', 'email', 'first name', 'last name', ...others].join(',')];
    for (let row = 0; row < rows; row++)
      lines.push([row, `a${row}@x.example`, 'Ann', 'Lee', ...others.map(() => 'some text')].join(','));
    let mapped = 0;
    const turns = await turnsDuring(async () => {
      const text = await openText(Readable.from([Buffer.from(lines.join('\n'))]), 'csv');
      const mapping = presetMapping('hubspot/contacts');
      for await (const records of await mapText(text, STREAMS.contacts as Stream, mapping))
        mapped += records.filter((record) => record.mapped !== undefined).length;
    });
    expect(mapped).to.equal(rows);
    expect(turns).to.be.at.least(3 * rows);
  });

  it('a batch of contacts reads at most 16 contacts', async () => {
    await ingest(contacts());
    const ids = Array.from({ length: 1000 }, (_, index) => `turn${index}`);
    let found = 0;
    const turns = await turnsDuring(async () => {
      found = (await stores.records.getContacts('org_a', ids)).contacts.length;
    });
    expect(found).to.equal(1000);
    expect(turns).to.be.at.least(Math.floor(1000 / MAX_ITEMS));
  });

  it('a response is serialized by at most 16 items, or 16 KiB', async () => {
    const small = Array.from({ length: COUNT }, (_, index) => ({ index }));
    expect(await turnsDuring(() => serialize({ small }))).to.be.at.least(COUNT / MAX_ITEMS);
    const large = small.map(({ index }) => ({ index, pad: 'x'.repeat(MAX_BYTES) }));
    expect(await turnsDuring(() => serialize({ large: large.slice(0, 200) }))).to.be.at.least(200);
  });

  it('an answer of ClickHouse is read by at most 16 rows', async () => {
    const data = Array.from({ length: COUNT }, (_, index) => [String(index)]);
    const answer = { data, meta: [{ name: 'n', type: 'String' }], rows: COUNT } as never;
    expect(await turnsDuring(() => toResult(answer))).to.be.at.least(COUNT / MAX_ITEMS);
  });
});
