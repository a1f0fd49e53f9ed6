import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { compileMapping } from '../../ingest/mapping/compile.js';
import { rejectContradictions } from '../../ingest/mapping/same-key.js';
import type { RawRecord } from '../../ingest/records/raw-record.js';
import { mapText, openText } from '../../ingest/sources/text.js';
import { STREAMS } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { runs, SEED } from '../support/random.js';

const DELIVERIES = STREAMS['network-a-deliveries'] as Stream;

interface Figures {
  day: number;
  campaign: number;
  clicks: number;
  reported?: number | undefined;
}

const rowOf = ({ day, campaign, clicks, reported }: Figures, index: number): RawRecord => ({
  line: index + 2,
  bytes: Buffer.from('x'),
  mapped: {
    date: `2026-09-0${day}`,
    campaign_id: `c${campaign}`,
    creative_id: 'k',
    clicks,
    ...(reported !== undefined && { reported_at: `2026-10-0${reported}T00:00:00Z` }),
  },
});

async function* inChunks(rows: readonly RawRecord[], size = 3, pauseMs = 0) {
  for (let at = 0; at < rows.length; at += size) {
    if (at > 0 && pauseMs > 0) await wait(pauseMs);
    yield rows.slice(at, at + size);
  }
}

/** The codes of the rows, in order; null for a row that passes. */
async function outcomes(
  figures: readonly Figures[],
  bounds?: Parameters<typeof rejectContradictions>[2],
  pauseMs = 0,
): Promise<(string | null)[]> {
  const rows = figures.map(rowOf);
  const passed: RawRecord[] = [];
  const codes: (string | null)[] = [];
  for await (const chunk of rejectContradictions(inChunks(rows, 3, pauseMs), DELIVERIES, bounds)) {
    for (const raw of chunk) {
      passed.push(raw);
      codes.push(raw.rejection?.code ?? null);
    }
  }
  expect(passed).to.deep.equal(rows);
  return codes;
}

/** The codes of rows of one key with equal figures and these texts in a left-out column. */
async function codesOf(texts: readonly string[], column = 'Device'): Promise<(string | undefined)[]> {
  const rows = texts.map((text, index) => ({
    ...rowOf({ day: 1, campaign: 1, clicks: 1 }, index),
    value: { [column]: text },
  }));
  for await (const _ of rejectContradictions(inChunks(rows), DELIVERIES, { leftOut: [column] }));
  return rows.map(({ rejection }: RawRecord) => rejection?.code);
}

const ONE = { day: 1, campaign: 1, clicks: 1 };

describe('Rows of one file with the same key', () => {
  it('and equal figures are parts of a day where a left-out column has different texts', async () => {
    expect(await codesOf(['mobile', 'desktop'])).to.deep.equal(['same_key', 'same_key']);
    expect(await codesOf(['mobile', 'mobile', 'desktop'])).to.deep.equal(Array(3).fill('same_key'));
    expect(await codesOf(['Placement 1', 'Placement 2'])).to.deep.equal(['same_key', 'same_key']);
    expect(await codesOf(['', 'desktop'])).to.deep.equal(['same_key', 'same_key']);
    expect(await codesOf(['mobile', ' mobile '])).to.deep.equal([undefined, undefined]);
  });

  it('are compared by the columns that the mapping of a table leaves out', async () => {
    const fields = { date: 'Day', campaign_id: 'Campaign', creative_id: 'Ad', impressions: 'Impressions' };
    const mapping = compileMapping({ fields, ignore: 'rest' }, DELIVERIES);
    const rowsOf = async (csv: string) => {
      const text = await openText(Readable.from([Buffer.from(csv)]), 'csv');
      const codes: (string | undefined)[] = [];
      let detail = '';
      for await (const rows of await mapText(text, DELIVERIES, mapping)) {
        for (const { rejection } of rows) {
          codes.push(rejection?.code);
          detail = rejection?.detail ?? detail;
        }
      }
      return { codes, detail };
    };
    const header = 'Day,Campaign,Ad,Impressions,Device,_synced\n';
    const parts = await rowsOf(`${header}2026-09-01,c,k,100,mobile,a\n2026-09-01,c,k,100,desktop,b\n`);
    expect(parts.codes).to.deep.equal(['same_key', 'same_key']);
    expect(parts.detail).to.contain('only "Device" tells them apart, which is left out');
    const copies = await rowsOf(`${header}2026-09-01,c,k,100,mobile,a\n2026-09-01,c,k,100,mobile,b\n`);
    expect(copies.codes).to.deep.equal([undefined, undefined]);
  });

  it('and equal figures count once where only times, numbers or hashes of a connector differ', async () => {
    const harmless = [
      ['2026-11-02T09:00:00Z', '2026-11-03T09:00:00Z'],
      ['2026-11-02 09:00:00 UTC', '2026-11-03 09:00:00 UTC'],
      ['11/2/2026 9:00 PM', '11/3/2026 9:00 PM'],
      ['Nov 2, 2026', '3 November 2026'],
      ['17', '18.5'],
      ['9f86d081884c7d659a2feaa0c55ad015', '60303ae22b998861bce3b28f33eec1be'],
      ['123e4567-e89b-12d3-a456-426614174000', '123e4567-e89b-12d3-a456-426614174001'],
    ];
    for (const texts of harmless) {
      expect(await codesOf(texts), String(texts)).to.deep.equal([undefined, undefined]);
    }
    expect(await codesOf(['batch one', 'batch two'], '_fivetran_synced')).to.deep.equal([
      undefined,
      undefined,
    ]);
  });

  it('and other figures are all rejected, whatever their order; equal rows and other times of report go on', async () => {
    const figures = fc.record({
      day: fc.integer({ min: 1, max: 2 }),
      campaign: fc.integer({ min: 1, max: 3 }),
      clicks: fc.integer({ min: 1, max: 2 }),
      reported: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(figures, { maxLength: 30 }), async (rows) => {
        const expected = rows.map((row) =>
          rows.some(
            ({ day, campaign, reported, clicks }) =>
              day === row.day &&
              campaign === row.campaign &&
              reported === row.reported &&
              clicks !== row.clicks,
          )
            ? 'same_key'
            : null,
        );
        expect(await outcomes(rows)).to.deep.equal(expected);
      }),
      { numRuns: runs(100), seed: SEED },
    );
  });

  it('of which the first went on already, are rejected from the second on', async () => {
    const between = Array.from({ length: 9 }, (_, index) => ({ ...ONE, campaign: 2 + index }));
    const rows = [ONE, ...between, { ...ONE, clicks: 2 }, ONE];
    const codes = await outcomes(rows, { waitingRows: 6 });
    expect(codes).to.deep.equal([...Array(10).fill(null), 'same_key', 'same_key']);
  });

  it('are forgotten once their file has too many keys to keep', async () => {
    const between = Array.from({ length: 9 }, (_, index) => ({ ...ONE, campaign: 2 + index }));
    expect(await outcomes([ONE, ...between, { ...ONE, clicks: 2 }], { keys: 5 })).to.deep.equal(
      Array(11).fill(null),
    );
  });

  it('go on while a live source is silent, and otherwise with its end', async () => {
    const codesOf = async (isLive: boolean) => {
      const rows = [ONE, ONE, ONE, { ...ONE, clicks: 2 }].map(rowOf);
      const codes: (string | undefined)[] = [];
      for await (const chunk of rejectContradictions(inChunks(rows, 3, 1500), DELIVERIES, { isLive })) {
        codes.push(...chunk.map(({ rejection }) => rejection?.code));
      }
      return codes;
    };
    expect(await codesOf(true)).to.deep.equal([undefined, undefined, undefined, 'same_key']);
    expect(await codesOf(false)).to.deep.equal(['same_key', 'same_key', 'same_key', 'same_key']);
  });

  it('say which line contradicts them, and what to do', async () => {
    const rows = [ONE, { ...ONE, clicks: 2 }].map(rowOf);
    for await (const _ of rejectContradictions(inChunks(rows), DELIVERIES));
    expect(rows.map(({ rejection }) => rejection?.detail)).to.deep.equal(
      ['line 3', 'line 2'].map(
        (line) =>
          `The row and ${line} are about the same day, campaign, creative and company, and their figures differ. Export the report without the breakdown that tells them apart.`,
      ),
    );
  });

  it('go on where they lack the day or the campaign, and are rejected for that', async () => {
    for (const missing of ['date', 'campaign_id']) {
      const rows = [ONE, { ...ONE, clicks: 2 }].map(rowOf);
      for (const { mapped } of rows) delete (mapped as Record<string, unknown>)[missing];
      for await (const _ of rejectContradictions(inChunks(rows), DELIVERIES));
      expect(
        rows.map(({ rejection }) => rejection),
        missing,
      ).to.deep.equal([undefined, undefined]);
    }
  });

  it('wait in a bounded number and size, and what waits is rejected together', async () => {
    const between = Array.from({ length: 9 }, (_, index) => ({ ...ONE, campaign: 2 + index }));
    const pair = [
      { ...ONE, campaign: 20 },
      { ...ONE, campaign: 20, clicks: 2 },
    ];
    const both = ['same_key', 'same_key'];
    expect(await outcomes([...between, ...pair], { waitingRows: 3 })).to.deep.equal([
      ...Array(9).fill(null),
      ...both,
    ]);
    // A row with more bytes than may wait passes at once, and no longer counts.
    const rows = [ONE, { ...ONE, campaign: 3 }, { ...ONE, campaign: 4 }, ...pair, { ...ONE, clicks: 2 }].map(
      rowOf,
    );
    (rows[0] as RawRecord).bytes = Buffer.alloc(16 * 1024 * 1024 + 1);
    for await (const _ of rejectContradictions(inChunks(rows), DELIVERIES));
    expect(rows.map(({ rejection }) => rejection?.code ?? null)).to.deep.equal([
      ...Array(3).fill(null),
      ...both,
      'same_key',
    ]);
    expect(rows.at(-1)?.rejection?.detail).to.include('line 2, which is taken already,');
    expect(rows.at(-2)?.rejection?.detail).to.include('line 5 are about');
  });

  it('of which one is rejected, skipped, too long or a deletion do not contradict each other', async () => {
    const others: Partial<RawRecord>[] = [
      { rejection: { kind: 'dead_letter', code: 'other', pointer: '', detail: '' } as never },
      { isSkipped: true },
      { overlong: true } as never,
      { mapped: { ...(rowOf(ONE, 0).mapped as object), clicks: 2, deleted: true } },
    ];
    for (const other of others) {
      const rows = [rowOf(ONE, 0), { ...rowOf({ ...ONE, clicks: 2 }, 1), ...other }];
      for await (const _ of rejectContradictions(inChunks(rows), DELIVERIES));
      expect(
        rows.map(({ rejection }) => rejection?.code),
        JSON.stringify(other),
      ).to.deep.equal([undefined, other.rejection?.code]);
    }
  });

  it('are those of one organization, and have their values in any order', async () => {
    const [one, other, reordered] = [ONE, { ...ONE, clicks: 2 }, ONE].map(rowOf) as [
      RawRecord,
      RawRecord,
      RawRecord,
    ];
    other.mapped = { ...(other.mapped as object), organization_id: 'org_b' };
    reordered.mapped = Object.fromEntries(Object.entries(reordered.mapped as object).reverse());
    const rows = [one, other, reordered];
    for await (const _ of rejectContradictions(inChunks(rows), DELIVERIES));
    expect(rows.map(({ rejection }) => rejection)).to.deep.equal([undefined, undefined, undefined]);
  });

  it('are read no further once nobody reads them', async () => {
    let isClosed = false;
    const source = (async function* () {
      try {
        for (let day = 1; ; day++) yield [rowOf({ ...ONE, day: 1 + (day % 9) }, day)];
      } finally {
        isClosed = true;
      }
    })();
    for await (const _ of rejectContradictions(source, DELIVERIES, { waitingRows: 1 })) break;
    expect(isClosed).to.equal(true);
  });

  it('belong to deliveries alone: later records of a person change earlier ones', () => {
    const source = inChunks([]);
    expect(rejectContradictions(source, STREAMS.contacts as Stream)).to.equal(source);
  });
});
