import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Metric } from '../../advertising/metrics.js';
import type { ChartData, Mark } from '../chart.js';
import { daysBefore, figure, plural } from '../format.js';
import { addable, type Charted, METRICS, sumSeries } from '../metrics.js';
import { theme } from '../theme.js';
import { type Column, FigureTable } from './table.js';

interface ChartsProps {
  metrics: readonly Metric[];
  /** All periods of the range, including periods without a point. */
  periods: readonly string[];
  items: readonly Charted[];
  /** The same items in the comparison range. Their points have the dates of the periods that they are compared with. */
  previous?: readonly Charted[];
  /** Whole weeks between a day and the day that it is compared with. */
  weeks?: number;
  /** Days on which something happened, such as the start of a campaign. */
  marks?: readonly Mark[];
  /** Description of the lines, for screen readers. */
  caption: string;
  /** Controls of the charts. */
  children?: ComponentChildren;
}

/** One small chart per metric, and per currency for money, over the same days. Each chart has its own scale. The same values are a table. */
export function Charts({ caption, children, ...props }: ChartsProps) {
  const { metrics, periods, items, previous, weeks, marks } = props;
  const isProvisional = items.some(({ timeseries }) => timeseries.some(({ provisional }) => provisional));
  const charts = useMemo(
    () => chartsOf(props),
    [metrics.join(), periods, items, previous, weeks, JSON.stringify(marks)],
  );
  const shownMarks = charts[0]?.marks ?? [];
  return (
    <figure class="charts">
      <div class="toolbar">
        <figcaption>
          {caption}
          {shownMarks.map(({ label, date }) => ` ${label} on ${date}.`).join('')}
          {isProvisional && <span class="provisional-key">provisional</span>}
          {previous && previous.length > 0 && (
            <span class="previous-key">
              before{weeks !== undefined && `: the same weekdays, ${plural(weeks, 'week')} back`}
            </span>
          )}
        </figcaption>
        {children && <div class="actions">{children}</div>}
      </div>
      <div class="charts-grid">
        {charts.map((data) => (
          <Plot key={data.label} data={data} />
        ))}
      </div>
      <ChartTable charts={charts} />
    </figure>
  );
}

function chartsOf({
  metrics,
  periods,
  items,
  previous,
  weeks,
  marks = [],
}: Omit<ChartsProps, 'caption' | 'children'>): ChartData[] {
  const seriesOf = (some: readonly Charted[]) => some.map(({ timeseries }) => timeseries);
  return metrics.flatMap((metric) =>
    addable(items, metric).map(([currency, some], _, groups) => {
      const { label, kind } = METRICS[metric];
      const before = previous && addable(previous, metric).find(([its]) => its === currency)?.[1];
      const points = seriesOf(some).flat();
      const provisional = new Set(points.filter((point) => point.provisional).map(({ period }) => period));
      return {
        label: `${label}${groups.length > 1 ? `, ${currency ?? 'currency unknown'}` : ''}`,
        kind,
        currency,
        values: sumSeries(seriesOf(some), metric, periods),
        previous: before && sumSeries(seriesOf(before), metric, periods),
        previousPeriods:
          weeks === undefined ? undefined : periods.map((period) => daysBefore(period, weeks * 7)),
        provisional: periods.map((period) => provisional.has(period)),
        periods,
        marks: marks.filter(({ date }) => periods.some((period) => date.startsWith(period))),
      };
    }),
  );
}

/** The values of all charts, a row per period, for those who cannot use a pointer. */
function ChartTable({ charts }: { charts: readonly ChartData[] }) {
  const [isOpen, setOpen] = useState(false);
  const periods = charts[0]?.periods ?? [];
  const columns = charts.flatMap(({ label, kind, currency, values, previous }) => {
    const column = (of: string, numbers: readonly (number | null)[]): Column<number> => ({
      label: of,
      class: 'figure',
      cell: (row) => figure(numbers[row], kind, currency),
    });
    return [column(label, values), ...(previous ? [column(`${label} before`, previous)] : [])];
  });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="note">Values as a table</summary>
      {isOpen && (
        <FigureTable
          label="Values of the charts"
          columns={[{ label: 'Period', cell: (row) => periods[row] }, ...columns]}
          rows={periods.map((_, row) => row)}
          keyOf={(row) => periods[row] ?? ''}
        />
      )}
    </details>
  );
}

/** A line by day, or bars by month, and the value at the pointer. */
export function Plot({ data }: { data: ChartData }) {
  const place = useRef<HTMLDivElement>(null);
  const [failed, setFailed] = useState(false);
  const colours = theme.value;
  useEffect(() => {
    let destroy: (() => void) | undefined;
    let left = false;
    // The chart library loads with the first chart, separately from the console.
    import('../chart.js').then(
      ({ drawChart }) => {
        if (place.current && !left) destroy = drawChart(place.current, data);
      },
      () => setFailed(true),
    );
    return () => {
      left = true;
      destroy?.();
    };
  }, [data, colours]);
  return (
    <div class="chart">
      <div class="chart-head">
        <strong>{data.label}</strong> <span class="chart-value" />
      </div>
      {failed ? (
        <p class="note">The chart could not be loaded.</p>
      ) : (
        <div class="chart-plot" ref={place} role="img" aria-label={data.label} />
      )}
    </div>
  );
}
