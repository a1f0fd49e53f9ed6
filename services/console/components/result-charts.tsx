/** Charts of an SQL result: lines if its first column is a day or a month, bars if it is a name. */
import { useMemo } from 'preact/hooks';
import type { ChartData } from '../chart.js';
import { count, type Kind, NONE, plural } from '../format.js';
import { Plot } from './charts.js';

const MAX_CHARTS = 4;
const MAX_BARS = 10;
const NUMBER = /^(?:Nullable\()?(?:U?Int|Float|Decimal)/;
const TEXT = /^(?:Nullable\(|LowCardinality\()*(?:String|FixedString|Enum)/;
const DAY = /^\d{4}-\d{2}(?:-\d{2})?(?: |$)/;

export interface ResultColumn {
  name: string;
  type: string;
}
export type ResultRow = readonly unknown[];

/**
 * Formats a value as the table does. Decimals are amounts, whose digits are grouped. Other numbers have no thousands separators, because
 * they may be years or ids.
 */
export function textOf(value: unknown, type = ''): string {
  if (value === null || value === undefined) return NONE;
  if (/^(?:Nullable\()?Decimal/.test(type))
    return String(value).replace(/^-?\d+/, (whole) => BigInt(whole).toLocaleString('en'));
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const barText = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) ? count(value) : textOf(value);

export const isNumber = ({ type }: ResultColumn) => NUMBER.test(type);

interface Metric {
  name: string;
  index: number;
  kind: Kind;
}

interface Shape {
  metrics: readonly Metric[];
  /** Name of a row: its texts, or its id if it has no other text. */
  nameOf(row: ResultRow): string;
}

function shapeOf(columns: readonly ResultColumn[]): Shape {
  const all = columns.map((column, index) => ({ ...column, index }));
  const texts = all.filter(({ name, type }) => TEXT.test(type) && name !== 'organization_id');
  const named = texts.filter(({ name }) => !/(?:^|_)id$/.test(name));
  const parts = named.length > 0 ? named : texts;
  return {
    metrics: all
      .filter(({ index }) => index > 0)
      .filter(isNumber)
      .map(({ name, type, index }) => ({ name, index, kind: /Int/.test(type) ? 'count' : 'ratio' })),
    nameOf: (row) => parts.map(({ index }) => String(row[index] ?? NONE)).join(', '),
  };
}

const numberOf = (value: unknown) => (value === null || value === undefined ? null : Number(value));

const MAX_TIMES = 5000;
const millisecondsOf = (time: string) => Date.parse(time.length > 10 ? `${time.replace(' ', 'T')}Z` : time);
const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Ascending times, including times without a row: months if every time is the first day of a month, otherwise the common step. */
function withoutGaps(times: readonly string[]): string[] {
  const first = times[0] ?? '';
  const moments = times.map(millisecondsOf);
  const end = moments.at(-1) ?? Number.NaN;
  const all: string[] = [];
  const monthly = times.every((time) => time.length === 7 || time.slice(7) === '-01');
  const step = moments.reduce((step, at, index) => greatestDivisor(at - (moments[index - 1] ?? at), step), 0);
  // Gives up on a time zone or calendar that cannot be parsed here.
  if (Number.isNaN(step) || (!monthly && (step <= 0 || (end - (moments[0] ?? end)) / step > MAX_TIMES)))
    return [...times];
  for (const at = new Date(moments[0] ?? end); at.getTime() <= end && all.length <= MAX_TIMES; ) {
    all.push(at.toISOString().replace('T', ' ').slice(0, first.length));
    if (monthly) at.setUTCMonth(at.getUTCMonth() + 1);
    else at.setTime(at.getTime() + step);
  }
  const known = new Set(all);
  return times.every((time) => known.has(time)) ? all : [...times];
}

/** One line per metric and name, because values of different names cannot be added up. */
function linesOf({ metrics, nameOf }: Shape, rows: readonly ResultRow[]): ChartData[] {
  const groups = new Map<string, ResultRow[]>();
  for (const row of rows) groups.set(nameOf(row), [...(groups.get(nameOf(row)) ?? []), row]);
  const times = withoutGaps([...new Set(rows.map(([time]) => String(time)))].sort());
  return metrics.flatMap(({ name, index, kind }) =>
    [...groups].slice(0, MAX_CHARTS).map(([group, members]): ChartData => {
      const byTime = new Map(members.map((row) => [String(row[0]), row]));
      // If two rows have the same time, both are kept.
      const sorted =
        byTime.size < members.length
          ? members.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))
          : undefined;
      return {
        label: [name, group].filter(Boolean).join(', '),
        kind,
        values: (sorted ?? times.map((time) => byTime.get(time))).map((row) => numberOf(row?.[index])),
        provisional: [],
        periods: sorted?.map(([time]) => String(time)) ?? times,
      };
    }),
  );
}

export function ResultCharts({
  columns,
  rows,
}: {
  columns: readonly ResultColumn[];
  rows: readonly ResultRow[];
}) {
  const { shape, lines, bars } = useMemo(() => {
    const shape = shapeOf(columns);
    const isTime = rows.every(([day]) => DAY.test(String(day)));
    const names = rows.map(shape.nameOf);
    const hasNames = columns[0] !== undefined && TEXT.test(columns[0].type);
    return {
      shape,
      lines: isTime ? linesOf(shape, rows) : [],
      // If rows share a name, no bar could represent the name.
      bars: !isTime && hasNames && new Set(names).size === names.length ? names : [],
    };
  }, [columns, rows]);
  if (rows.length < 2 || shape.metrics.length === 0 || lines.length + bars.length === 0) return null;
  return (
    <figure class="charts">
      <figcaption>
        {lines.length > 0
          ? lines.length > MAX_CHARTS && `The first ${MAX_CHARTS} of ${plural(lines.length, 'chart')}.`
          : bars.length > MAX_BARS && `The first ${MAX_BARS} of ${plural(bars.length, 'row')}.`}
      </figcaption>
      <div class="charts-grid">
        {lines.slice(0, MAX_CHARTS).map((data) => (
          <Plot key={data.label} data={data} />
        ))}
        {bars.length > 0 &&
          shape.metrics
            .slice(0, MAX_CHARTS)
            .map((metric) => (
              <Bars key={metric.index} metric={metric} names={bars.slice(0, MAX_BARS)} rows={rows} />
            ))}
      </div>
    </figure>
  );
}

function Bars({
  metric: { name, index },
  names,
  rows,
}: {
  metric: Metric;
  names: readonly string[];
  rows: readonly ResultRow[];
}) {
  const values = names.map((_, row) => numberOf(rows[row]?.[index]));
  const least = Math.min(...values.map((value) => value ?? 0), 0);
  const width = Math.max(...values.map((value) => value ?? 0), 0) - least || 1;
  const place = (value: number) => (100 * (value - least)) / width;
  return (
    <div class="chart">
      <strong>{name}</strong>
      <ol class="bars" aria-label={name}>
        {names.map((each, row) => (
          <li key={each}>
            <span title={each}>{each}</span>
            <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
              <rect
                x={place(Math.min(values[row] ?? 0, 0))}
                width={(100 * Math.abs(values[row] ?? 0)) / width}
                height="10"
              />
            </svg>
            <span>{barText(rows[row]?.[index])}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
