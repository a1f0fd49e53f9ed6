/** The range, its granularity and the metrics of a chart, for lists and for one company. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Metric } from '../../advertising/metrics.js';
import { daysBefore, isDate, today } from '../format.js';
import { METRICS } from '../metrics.js';
import { hrefWith, param, setParams } from '../router.js';
import { Segments } from './segments.js';
import { Popover } from './toolbar.js';

const DEFAULT_DAYS = 30;
const MAX_CHARTS = 4;

/** Named ranges as of today. They end yesterday, because today is incomplete. */
function namedRanges(): [label: string, start: string, end: string][] {
  const yesterday = daysBefore(today(), 1);
  const month = `${today().slice(0, 7)}-01`;
  const lastOfMonth = daysBefore(month, 1);
  const days = (count: number) => daysBefore(yesterday, count - 1);
  return [
    ['Last 7 days', days(7), yesterday],
    ['Last 30 days', days(30), yesterday],
    ['Last 90 days', days(90), yesterday],
    ['Last 12 months', days(365), yesterday],
    ['This month', month, yesterday < month ? month : yesterday],
    ['Last month', `${lastOfMonth.slice(0, 7)}-01`, lastOfMonth],
  ];
}

/** Ranges to compare with. */
export const COMPARISONS = [
  ['previous_period', 'the days before'],
  ['previous_month', 'the month before'],
  ['previous_year', 'the year before'],
] as const;
export type Comparison = (typeof COMPARISONS)[number][0];

export interface Report {
  start_date: string;
  end_date: string;
  granularity: 'daily' | 'monthly';
}

/** The range in the URL, or the last 30 days. */
export function reportOf(): Report {
  const yesterday = daysBefore(today(), 1);
  const end = isDate(param('end')) ? param('end') : yesterday;
  const start = isDate(param('start')) ? param('start') : daysBefore(end, DEFAULT_DAYS - 1);
  return {
    start_date: start,
    end_date: end,
    granularity: param('granularity') === 'monthly' ? 'monthly' : 'daily',
  };
}

/** URL parameters that all advertising views share. */
export const reportParams = (): Record<string, string> =>
  Object.fromEntries(['start', 'end', 'granularity', 'chart', 'compare'].map((name) => [name, param(name)]));

/** Metrics to chart: the available metrics that the URL names, otherwise the standard metrics. */
export function chartMetrics(available: readonly Metric[], standard: readonly Metric[]): Metric[] {
  const asked = param('chart')
    .split(',')
    .filter((name): name is Metric => available.includes(name as Metric));
  return (asked.length > 0 ? asked : [...standard]).slice(0, MAX_CHARTS);
}

interface ReportControlsProps {
  report: Report;
  withGranularity?: boolean;
}

export function ReportControls({ report, withGranularity = true }: ReportControlsProps) {
  const [isOwn, setOwn] = useState(false);
  const ranges = namedRanges();
  const current = ranges.find(([, start, end]) => start === report.start_date && end === report.end_date);
  return (
    <>
      <select
        aria-label="Range"
        value={isOwn ? '' : (current?.[0] ?? '')}
        onChange={(event) => {
          const chosen = ranges.find(([label]) => label === event.currentTarget.value);
          setOwn(!chosen);
          if (chosen) setParams({ start: chosen[1], end: chosen[2], page: null });
        }}
      >
        {ranges.map(([label]) => (
          <option key={label}>{label}</option>
        ))}
        <option value="">Other days</option>
      </select>
      {/* A narrow window shows the days only if they are no named range. */}
      <span class={current && !isOwn ? 'row second' : 'row'}>
        <DateField label="From" name="start" value={report.start_date} max={report.end_date} />
        <DateField label="To" name="end" value={report.end_date} min={report.start_date} />
      </span>
      {withGranularity && <Granularity report={report} />}
    </>
  );
}

export function Granularity({ report }: Pick<ReportControlsProps, 'report'>) {
  return (
    <Segments
      label="Granularity"
      items={[
        ['Daily', hrefWith({ granularity: null }), report.granularity === 'daily'],
        ['Monthly', hrefWith({ granularity: 'monthly' }), report.granularity === 'monthly'],
      ]}
    />
  );
}

/** Pause after the last key in a date field, because each key makes another valid date. */
const TYPING_MS = 1000;

/** Takes a picked day at once, and a typed day once it is complete. */
function DateField({
  label,
  name,
  ...input
}: {
  label: string;
  name: string;
  value: string;
  min?: string;
  max?: string;
}) {
  const [text, setText] = useState(input.value);
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isTyped = useRef(false);
  useEffect(() => setText(input.value), [input.value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  function take() {
    clearTimeout(timer.current);
    isTyped.current = false;
    const typed = field.current?.value ?? '';
    // A year that is still being typed begins with 0.
    if (typed !== input.value && isDate(typed) && !typed.startsWith('0'))
      setParams({ [name]: typed, page: null });
  }
  return (
    <label class="field inline">
      <span>{label}</span>
      <input
        ref={field}
        type="date"
        {...input}
        value={text}
        onKeyDown={({ key }) => {
          if (key === 'Enter') take();
          isTyped.current = true;
        }}
        onInput={(event) => {
          setText(event.currentTarget.value);
          clearTimeout(timer.current);
          timer.current = setTimeout(take, isTyped.current ? TYPING_MS : 0);
        }}
        onBlur={take}
      />
    </label>
  );
}

export function MetricPicker({
  available,
  chosen,
}: {
  available: readonly Metric[];
  chosen: readonly Metric[];
}) {
  return (
    <Popover label="Metrics">
      <p class="note">Shown as charts and columns, at most {MAX_CHARTS}.</p>
      <div class="checks">
        {available.map((name) => {
          const isChosen = chosen.includes(name);
          return (
            <label key={name}>
              <input
                type="checkbox"
                checked={isChosen}
                disabled={isChosen ? chosen.length === 1 : chosen.length >= MAX_CHARTS}
                onChange={() =>
                  setParams({
                    chart: (isChosen ? chosen.filter((other) => other !== name) : [...chosen, name]).join(
                      ',',
                    ),
                  })
                }
              />
              {METRICS[name].label}
            </label>
          );
        })}
      </div>
    </Popover>
  );
}

/** Shows warnings as one line of sentences instead of codes. */
export function Warnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul class="warnings" aria-label="What to know about these figures">
      {warnings.map((warning) => (
        <li key={warning}>{warning.slice(warning.indexOf(': ') + 2)}</li>
      ))}
    </ul>
  );
}
