/** Charts of what a statement answered: lines where its first column is a day or a month, bars where it is a name. */
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

/** A value as the table and the bars write it. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return NONE;
  if (typeof value === 'number' && Number.isInteger(value)) return count(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export const isNumber = ({ type }: ResultColumn) => NUMBER.test(type);

interface Metric {
  name: string;
  index: number;
  kind: Kind;
}

interface Shape {
  metrics: readonly Metric[];
  /** What a row is called by its texts; an id counts only where there is nothing else. */
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

/** One of each number and each name, as those of several names cannot be added up. */
function linesOf({ metrics, nameOf }: Shape, rows: readonly ResultRow[]): ChartData[] {
  const groups = new Map<string, ResultRow[]>();
  for (const row of rows) groups.set(nameOf(row), [...(groups.get(nameOf(row)) ?? []), row]);
  return metrics.flatMap(({ name, index, kind }) =>
    [...groups].slice(0, MAX_CHARTS).map(([group, members]): ChartData => {
      const sorted = members.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
      return {
        label: [name, group].filter(Boolean).join(', '),
        kind,
        values: sorted.map((row) => numberOf(row[index])),
        provisional: [],
        periods: sorted.map(([day]) => String(day)),
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
      // Of rows that share a name, no bar would be that of the name.
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
            <span>{textOf(rows[row]?.[index])}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
