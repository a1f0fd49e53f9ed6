/** Line charts over days, drawn with uPlot. Its few CSS rules are in style.css. */
import uPlot from 'uplot';
import { figure, type Kind, short, shortPeriod } from './format.js';

/** A day on which something happened, such as the start of a campaign. */
export interface Mark {
  date: string;
  label: string;
}

export interface ChartData {
  label: string;
  kind: Kind;
  currency?: string | null;
  values: (number | null)[];
  /** Values of the comparison range, in the same order. */
  previous?: (number | null)[];
  /** Days of these values; undefined if they are those of whole months. */
  previousPeriods?: readonly string[];
  provisional: readonly boolean[];
  /** `YYYY-MM-DD` for days, `YYYY-MM` for months. */
  periods: readonly string[];
  /** Draws bars for periods other than months. */
  hasBars?: boolean;
  marks?: readonly Mark[];
}

const HEIGHT = 132;
/** Distances between the ticks of a count. */
const WHOLE_STEPS = Array.from({ length: 15 }, (_, digits) =>
  [1, 2, 5].map((step) => step * 10 ** digits),
).flat();

/** The computed colour of a custom property, which may be a function of the theme. */
function colour(element: HTMLElement, name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Draws the chart. The returned function removes it. */
export function drawChart(element: HTMLElement, data: ChartData): () => void {
  const { kind, currency, periods, values, previous } = data;
  // A month is a sum by itself. A line between two months would suggest days in between.
  const hasBars = data.hasBars === true || periods[0]?.length === 7;
  const [line, grid, text, ground] = ['--accent', '--line', '--secondary', '--hatch'].map((name) =>
    colour(element, name),
  ) as [string, string, string, string];
  const value = element.parentElement?.querySelector('.chart-value');
  const show = (index: number | null | undefined) => {
    const at = index ?? -1;
    const day = data.previousPeriods?.[at];
    const before = previous
      ? `, before ${figure(previous[at], kind, currency)}${day ? ` on ${day}` : ''}`
      : '';
    if (value)
      value.textContent = at < 0 ? '' : `${periods[at]}: ${figure(values[at], kind, currency)}${before}`;
  };
  const axis = {
    stroke: text,
    font: '11px system-ui',
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
  };
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: {
        sync: { key: 'days' },
        drag: { x: false, y: false },
        points: { size: 6 },
        // The cursor snaps to the period whose value is shown.
        move: (chart, left, top) => [left < 0 ? left : chart.valToPos(chart.posToIdx(left), 'x'), top],
      },
      scales: {
        // Half a period on both sides shows the outer bars and shaded periods completely.
        x: { time: false, range: [-0.5, periods.length - 0.5] },
        y: { range: (_, min, max) => [Math.min(0, min ?? 0), max > 0 ? max * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          size: 28,
          gap: 8,
          grid: { show: false },
          space: 64,
          incrs: [1, 2, 3, 7, 14, 28, 56, 112, 224, 448],
          values: (_, ticks) => ticks.map((index) => shortPeriod(periods[index]?.slice(0, 10))),
        },
        {
          ...axis,
          size: 52,
          gap: 4,
          space: 28,
          ...(kind === 'count' ? { incrs: WHOLE_STEPS } : {}),
          values: (_, ticks) => ticks.map((tick) => short(tick, kind)),
        },
      ],
      series: [
        {},
        {
          label: data.label,
          stroke: line,
          width: 1.5,
          points: { show: !hasBars && values.length < 40, size: 4 },
          spanGaps: false,
          ...(hasBars ? { fill: line, paths: uPlot.paths.bars?.({ size: [0.6, 40] }) } : {}),
        },
        ...(previous
          ? [{ label: 'before', stroke: text, width: 1, dash: [4, 4], points: { show: hasBars, size: 6 } }]
          : []),
      ],
      hooks: {
        drawClear: [(chart) => shadeProvisional(chart, data, ground)],
        draw: [(chart) => drawMarks(chart, data, text)],
        setCursor: [(chart) => show(chart.cursor.idx)],
      },
    },
    [periods.map((_, index) => index), values, ...(previous ? [previous] : [])],
    element,
  );
  plot.over.addEventListener('mouseleave', () => show(null));
  const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
  resize.observe(element);
  return () => {
    resize.disconnect();
    plot.destroy();
    show(null);
  };
}

/** Shades from the first provisional period to the right edge. */
function shadeProvisional(chart: uPlot, { provisional }: ChartData, colour: string): void {
  const first = provisional.indexOf(true);
  if (first < 0) return;
  const { ctx, bbox } = chart;
  const left = Math.max(bbox.left, chart.valToPos(first - 0.5, 'x', true));
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, bbox.left + bbox.width - left, bbox.height);
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  const step = 6 * devicePixelRatio;
  for (let x = left - bbox.height; x < bbox.left + bbox.width; x += step) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.restore();
}

/** Draws a line at each mark, with its label at the top. */
function drawMarks(chart: uPlot, { marks = [], periods }: ChartData, colour: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.font = `${11 * devicePixelRatio}px system-ui`;
  ctx.textBaseline = 'top';
  for (const { date, label } of marks) {
    const at = periods.findIndex((period) => date.startsWith(period));
    const left = Math.round(chart.valToPos(at, 'x', true));
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    const isLeft = left < bbox.left + bbox.width / 2;
    ctx.textAlign = isLeft ? 'left' : 'right';
    ctx.fillText(label, left + (isLeft ? 4 : -4) * devicePixelRatio, bbox.top);
  }
  ctx.restore();
}
