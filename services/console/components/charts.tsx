import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Metric } from '../../advertising/metrics.js';
import type { ChartData } from '../chart.js';
import { addable, type Charted, METRICS, type Point, sumSeries } from '../metrics.js';
import { theme } from '../theme.js';

interface ChartsProps {
  metrics: readonly Metric[];
  items: readonly Charted[];
  /** The same items in the range that is compared with. */
  previous?: readonly Charted[];
  /** What the lines are of, for those who cannot see them. */
  caption: string;
}

/** One small chart per metric, and currency of money, below the same days, so that no two scales share an axis. */
export function Charts({ metrics, items, previous = [], caption }: ChartsProps) {
  const isProvisional = items[0]?.timeseries.some(({ provisional }) => provisional) ?? false;
  return (
    <figure class="charts">
      <figcaption>
        {caption}
        {isProvisional && (
          <span class="provisional-key">provisional: the network may still restate these days</span>
        )}
        {previous.length > 0 && <span class="previous-key">before</span>}
      </figcaption>
      <div class="charts-grid">
        {metrics.flatMap((metric) =>
          addable(items, metric).map(([currency, some], _, groups) => (
            <Chart
              key={`${metric} ${currency}`}
              metric={metric}
              label={`${METRICS[metric].label}${groups.length > 1 ? `, ${currency ?? 'currency unknown'}` : ''}`}
              series={some.map(({ timeseries }) => timeseries)}
              previous={addable(previous, metric).find(([its]) => its === currency)?.[1]}
              currency={currency}
            />
          )),
        )}
      </div>
    </figure>
  );
}

interface ChartProps {
  metric: Metric;
  label: string;
  series: readonly (readonly Point[])[];
  previous: readonly Charted[] | undefined;
  currency: string | null;
}

function Chart({ metric, label, series, previous, currency }: ChartProps) {
  const data = useMemo((): ChartData => {
    const values = sumSeries(series, metric);
    const points = longest(series);
    const before =
      previous &&
      [
        ...sumSeries(
          previous.map(({ timeseries }) => timeseries),
          metric,
        ),
      ].sort();
    return {
      label,
      kind: METRICS[metric].kind,
      currency,
      values: points.map(({ period }) => values.get(period) ?? null),
      // Aligned by their first days.
      previous: before && points.map((_, index) => before[index]?.[1] ?? null),
      provisional: points.map(({ provisional }) => provisional),
      periods: points.map(({ period }) => period),
    };
  }, [series, previous, metric, label, currency]);
  return <Plot data={data} />;
}

/** A line by day, or bars by month, and the figure of the period that is pointed at. */
export function Plot({ data }: { data: ChartData }) {
  const place = useRef<HTMLDivElement>(null);
  const [failed, setFailed] = useState(false);
  const colours = theme.value;
  useEffect(() => {
    let destroy: (() => void) | undefined;
    let left = false;
    // Its library comes with the first chart, apart from the rest of the console.
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
      {failed ? <p class="note">The chart could not be loaded.</p> : <div class="chart-plot" ref={place} />}
    </div>
  );
}

/** The series of the most periods; where a series is sparse the others have them. */
function longest(series: ChartProps['series']): readonly Point[] {
  return series.reduce<readonly Point[]>((best, points) => (points.length > best.length ? points : best), []);
}
