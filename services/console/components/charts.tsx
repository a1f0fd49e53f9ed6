import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Metric } from '../../advertising/metrics.js';
import type { ChartData } from '../chart.js';
import { addable, type Charted, METRICS, type Point, sumSeries } from '../metrics.js';
import { theme } from '../theme.js';

interface ChartsProps {
  metrics: readonly Metric[];
  /** All periods of the range, including periods without a point. */
  periods: readonly string[];
  items: readonly Charted[];
  /** The same items in the comparison range. Their points have the dates of the periods that they are compared with. */
  previous?: readonly Charted[];
  /** Description of the lines, for screen readers. */
  caption: string;
}

/** One small chart per metric, and per currency for money, over the same days. Each chart has its own scale. */
export function Charts({ metrics, periods, items, previous = [], caption }: ChartsProps) {
  const isProvisional = items.some(({ timeseries }) => timeseries.some(({ provisional }) => provisional));
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
              periods={periods}
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
  periods: readonly string[];
  series: readonly (readonly Point[])[];
  previous: readonly Charted[] | undefined;
  currency: string | null;
}

function Chart({ metric, label, periods, series, previous, currency }: ChartProps) {
  const data = useMemo((): ChartData => {
    const provisional = new Set(
      series.flatMap((points) => points.filter((point) => point.provisional).map(({ period }) => period)),
    );
    return {
      label,
      kind: METRICS[metric].kind,
      currency,
      values: sumSeries(series, metric, periods),
      previous:
        previous &&
        sumSeries(
          previous.map(({ timeseries }) => timeseries),
          metric,
          periods,
        ),
      provisional: periods.map((period) => provisional.has(period)),
      periods,
    };
  }, [periods, series, previous, metric, label, currency]);
  return <Plot data={data} />;
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
      {failed ? <p class="note">The chart could not be loaded.</p> : <div class="chart-plot" ref={place} />}
    </div>
  );
}
