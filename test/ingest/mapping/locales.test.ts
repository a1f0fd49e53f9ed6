/** Tables of deliveries as the locales of the world write them: read correctly as a whole, or refused. */
import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { AmbiguousInputError } from '../../../ingest/mapping/column-forms.js';
import { compileMapping } from '../../../ingest/mapping/compile.js';
import type { MappingFile } from '../../../ingest/mapping/mapping-file.js';
import { PRESETS } from '../../../ingest/presets/index.js';
import type { RawRecord } from '../../../ingest/records/raw-record.js';
import { mapText, openText } from '../../../ingest/sources/text.js';
import { STREAMS } from '../../../ingest/streams/index.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { runs, SEED } from '../../support/random.js';
import { wordsOf } from '../../support/words.js';

interface Delivery {
  /** `YYYY-MM-DD`. */
  date: string;
  /** In thousandths. */
  spend: number;
  impressions: number;
}

interface Style {
  date(year: string, month: string, day: string): string;
  group: string;
  mark: string;
}

const isoDate = (year: string, month: string, day: string) => `${year}-${month}-${day}`;
const dayFirst = (sign: string) => (year: string, month: string, day: string) =>
  [day, month, year].join(sign);
const STYLES: Record<string, Style> = {
  US: { date: (year, month, day) => `${Number(month)}/${Number(day)}/${year}`, group: ',', mark: '.' },
  UK: { date: dayFirst('/'), group: ',', mark: '.' },
  DE: { date: dayFirst('.'), group: '.', mark: ',' },
  FR: { date: dayFirst('/'), group: '\u202f', mark: ',' },
  CH: { date: dayFirst('.'), group: '’', mark: '.' },
  ISO: { date: isoDate, group: '', mark: '.' },
  /** Numbers without groups, as databases and spreadsheets of Europe write them. */
  'ISO with commas': { date: isoDate, group: '', mark: ',' },
};

/** Digits after the decimal mark; `natural` for as many as the number has. */
type Digits = 0 | 2 | 3 | 'natural';

function amount(thousandths: number, { group, mark }: Style, digits: Digits): string {
  const whole = String(Math.floor(thousandths / 1000)).replace(/\B(?=(\d{3})+$)/g, group);
  const fraction = String(thousandths % 1000).padStart(3, '0');
  const shown = digits === 'natural' ? fraction.replace(/0+$/, '') : fraction.slice(0, digits);
  return shown === '' ? whole : `${whole}${mark}${shown}`;
}

const COLUMNS = ['Day', 'Cost', 'Impr.'];
const CUSTOM: MappingFile = {
  fields: { date: 'Day', ad_spend: 'Cost', impressions: 'Impr.', campaign_id: { value: 'c' } },
};
const OWN = ['date', 'ad_spend', 'impressions'];
const REPORT = ['Start Date (in UTC)', 'Total Spent', 'Impressions', 'Campaign ID'];
const CAMPAIGN_MANAGER = PRESETS['linkedin-campaign-manager/campaign-performance'] as MappingFile;

interface Form {
  style: keyof typeof STYLES;
  digits: Digits;
  table: 'custom' | 'own' | 'campaign manager';
  /** Files of Campaign Manager: lines before the table that name the period. */
  hasPreamble?: boolean;
}

function write(deliveries: readonly Delivery[], { style: name, digits, table, hasPreamble }: Form): string {
  const style = STYLES[name] as Style;
  const rows = deliveries.map(({ date, spend, impressions }) => {
    const [year = '', month = '', day = ''] = date.split('-');
    return [
      style.date(year, month, day),
      amount(spend, style, digits),
      amount(impressions * 1000, style, 0),
      ...(table === 'campaign manager' ? ['1'] : []),
    ];
  });
  const header = { custom: COLUMNS, own: OWN, 'campaign manager': REPORT }[table];
  const text = [header, ...rows].map((row) => row.map((cell) => `"${cell}"`).join('\t')).join('\n');
  if (table !== 'campaign manager' || !hasPreamble) return `${text}\n`;
  const dates = deliveries.map(({ date }) => date).sort();
  return `Campaign Performance Report (in UTC)\nReport Start: ${named(dates[0])}, 12:00 AM\nReport End: ${named(dates.at(-1))}, 11:59 PM\n\n${text}\n`;
}

const named = (date = '') =>
  new Date(date).toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });

/** The records of a table, or the code of its refusal. */
async function load(text: string, table: Form['table'], declared = {}): Promise<Delivery[] | string> {
  const stream = STREAMS['network-a-deliveries'] as Stream;
  const file = { custom: CUSTOM, own: undefined, 'campaign manager': CAMPAIGN_MANAGER }[table];
  const mapping = file && compileMapping(file, stream);
  const opened = await openText(Readable.from([Buffer.from(text)]), 'csv', { headers: [REPORT] });
  const read: RawRecord[] = [];
  try {
    for await (const records of await mapText(opened, stream, mapping, declared)) read.push(...records);
  } catch (error) {
    if (error instanceof AmbiguousInputError) return error.code;
    throw error;
  }
  return read.map(({ mapped, rejection, bytes }) => {
    if (mapped === undefined) throw new Error(`rejected: ${rejection?.detail} ${bytes}`);
    const { date, ad_spend, impressions } = mapped as { date: string; ad_spend: string; impressions: number };
    return { date, spend: Math.round(Number(ad_spend) * 1000), impressions };
  });
}

const digitsOf = (digits: Digits, spend: number) => {
  const step = digits === 0 ? 1000 : digits === 2 ? 10 : 1;
  return Math.floor(spend / step) * step;
};

const deliveries = fc.record({
  rows: fc.array(
    fc.record({
      day: fc.integer({ min: 0, max: 364 }),
      spend: fc.oneof(
        fc.integer({ min: 0, max: 20_000 }),
        fc.integer({ min: 0, max: 3_000_000_000 }),
        fc.integer({ min: 1, max: 2000 }).map((whole) => whole * 1000),
      ),
      impressions: fc.oneof(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 5_000_000 })),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  days: fc.constantFrom(365, 31, 12),
  digits: fc.constantFrom<Digits>(0, 2, 3, 'natural'),
});

const tables = fc.constantFrom<Form['table']>('custom', 'own', 'campaign manager');

function made({
  rows,
  days,
  digits,
}: {
  rows: { day: number; spend: number; impressions: number }[];
  days: number;
  digits: Digits;
}): Delivery[] {
  return rows.map(({ day, spend, impressions }) => ({
    date: new Date(Date.UTC(2025, days === 365 ? 0 : 9, 1 + (day % days))).toISOString().slice(0, 10),
    spend: digitsOf(digits, spend),
    impressions,
  }));
}

const RUNS = runs(250);

describe('A table of deliveries', function () {
  this.timeout(600_000);

  it('gives the same records in every locale that is declared, and else the same or is refused', async () => {
    let right = 0;
    await fc.assert(
      fc.asyncProperty(
        deliveries,
        fc.constantFrom(...Object.keys(STYLES)),
        tables,
        fc.boolean(),
        async (content, style, table, hasPreamble) => {
          const expected = made(content);
          const text = write(expected, { style, digits: content.digits, table, hasPreamble });
          const actual = await load(text, table);
          if (typeof actual !== 'string') {
            right++;
            expect(actual, text).to.deep.equal(expected);
          }
          const declared = { dateOrder: style === 'US' ? 'mdy' : 'dmy', decimal: STYLES[style]?.mark };
          expect(await load(text, table, declared), text).to.deep.equal(expected);
        },
      ),
      { numRuns: RUNS, seed: SEED + 26 },
    );
    expect(right).to.be.greaterThan(RUNS / 3);
  });

  const DAYS_1_TO_12 = ['2026-10-01', '2026-10-05', '2026-10-12'];
  const SPENDS: [digits: Digits, spend: number[]][] = [
    [2, [1_234_560, 12_500, 3_400]],
    [3, [1_234, 12_345, 3_400]],
    [0, [1_234_000, 12_000, 3_000]],
  ];
  /** Outcomes for tables with only days 1 to 12 and fewer than 1000 impressions, by the digits after the mark: 2, 3, 0. */
  const OUTCOMES = `
    US: ambiguous_date ambiguous_date ambiguous_date
    UK: ambiguous_date ambiguous_date ambiguous_date
    DE: right ambiguous_number ambiguous_number
    FR: ambiguous_date ambiguous_date ambiguous_date
    CH: right ambiguous_number right
    ISO: right ambiguous_number right
    ISO with commas: right ambiguous_number right
  `;
  for (const line of OUTCOMES.trim().split('\n')) {
    const [style = '', outcomes = ''] = line.trim().split(': ');
    for (const [index, [digits, spend]] of SPENDS.entries()) {
      const outcome = wordsOf(outcomes)[index];
      it(`of ${style} with days 1 to 12 and spend of ${digits} digits behind the mark: ${outcome}`, async () => {
        const rows = DAYS_1_TO_12.map((date, at) => ({ date, spend: spend[at] ?? 0, impressions: 999 }));
        const actual = await load(write(rows, { style, digits, table: 'custom' }), 'custom');
        expect(actual).to.deep.equal(outcome === 'right' ? rows : outcome);
      });
    }
  }

  it('with the columns of the stream has a decimal point, but none that commas or semicolons put in doubt', async () => {
    const outcome = async (separator: string, ...amounts: string[]) => {
      const rows = amounts.map((amount) => ['2026-10-05', amount, '1'].map((cell) => `"${cell}"`));
      const text = [OWN, ...rows].map((row) => row.join(separator)).join('\n');
      const loaded = await load(text, 'own');
      return typeof loaded === 'string' ? loaded : loaded.map(({ spend }) => spend / 1000);
    };
    expect(await outcome(',', '1.234', '2.000')).to.deep.equal([1.234, 2]);
    expect(await outcome(',', '1,234')).to.equal('ambiguous_number');
    expect(await outcome(',', '1.234', '1,234')).to.equal('ambiguous_number');
    expect(await outcome(';', '1.234')).to.equal('ambiguous_number');
    expect(await outcome(';', '1.234', '1,5')).to.deep.equal([1234, 1.5]);
  });

  it('of Campaign Manager with days 1 to 12 takes the order in which its dates lie in the period of the report', async () => {
    const rows = DAYS_1_TO_12.map((day) => ({ date: day, spend: 1_234_560, impressions: 999 }));
    for (const style of ['US', 'UK', 'DE', 'FR']) {
      const text = write(rows, { style, digits: 2, table: 'campaign manager', hasPreamble: true });
      expect(await load(text, 'campaign manager'), style).to.deep.equal(rows);
    }
  });

  it('of Campaign Manager with many letters before its header costs no more than their number', async () => {
    const rows = [{ date: '2026-10-05', spend: 1_234_560, impressions: 999 }];
    const text = write(rows, { style: 'ISO', digits: 2, table: 'campaign manager', hasPreamble: true });
    const begin = performance.now();
    expect(await load(`${'a'.repeat(60_000)}\n${text}`, 'campaign manager')).to.deep.equal(rows);
    expect(performance.now() - begin).to.be.below(1000);
  });

  it('has a late row that contradicts its first 10 000 rejected', async () => {
    const rows = Array.from({ length: 10_000 }, () => ({ date: '2026-10-25', spend: 1500, impressions: 1 }));
    const text = write(rows, { style: 'UK', digits: 2, table: 'custom' });
    const late = [
      '"10/25/2026"\t"1.50"\t"1"',
      '"25/10/2026"\t"1,50"\t"1"',
      '"26/10/2026"\t"1.50"\t"2,000"',
      '',
    ];
    const stream = STREAMS['network-a-deliveries'] as Stream;
    const opened = await openText(Readable.from([Buffer.from(text + late.join('\n'))]), 'csv');
    const codes: unknown[] = [];
    for await (const records of await mapText(opened, stream, compileMapping(CUSTOM, stream))) {
      codes.push(...records.flatMap(({ rejection }) => (rejection ? [rejection.code] : [])));
    }
    expect(codes).to.deep.equal(['invalid_date', 'invalid_number']);
  });
});
