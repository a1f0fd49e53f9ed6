/** Totals as cards, each with its change: sign, word and colour. */
import type { Metric } from '../../advertising/metrics.js';
import { change, figure, rangeText } from '../format.js';
import { METRICS } from '../metrics.js';
import { Fact } from './fact.js';

type Figures = Readonly<Record<string, unknown>>;

interface FigureProps {
  name: Metric;
  of: Figures;
  /** Figures of the comparison range. */
  before?: Figures;
  currency?: string | null;
}

const text = ({ name, currency }: FigureProps, of: Figures) =>
  figure(of[name] as string | number | null, METRICS[name].kind, currency);

/** A figure in a table cell. */
export function Figure(props: FigureProps) {
  const { name, of, before } = props;
  if (!before) return <>{text(props, of)}</>;
  const by = change(of[name], before[name]);
  return (
    <span title={`before: ${text(props, before)}`}>
      {text(props, of)} {by !== '±0%' && <small class="delta">{by}</small>}
    </span>
  );
}

/** `+12% better`, and the class of its colour. More spend is neither good nor bad. */
function judged(name: Metric, by: string): [words: string, colour: string] {
  if (by === 'new') return ['none before', 'delta'];
  if (by === '±0%') return ['unchanged', 'delta'];
  const isMore = by.startsWith('+');
  const { good } = METRICS[name];
  if (good === undefined) return [`${by} ${isMore ? 'more' : 'less'}`, 'delta'];
  return isMore === (good === 'more') ? [`${by} better`, 'good'] : [`${by} worse`, 'bad'];
}

function Change(props: FigureProps & { before: Figures }) {
  const { name, of, before } = props;
  const by = change(of[name], before[name]);
  if (by === '') return <span class="note">no comparison</span>;
  const [words, colour] = judged(name, by);
  return (
    <>
      <span class={colour}>{words}</span>{' '}
      {by !== 'new' && <span class="note">from {text(props, before)}</span>}
    </>
  );
}

interface TotalsProps extends Omit<FigureProps, 'name'> {
  metrics: readonly Metric[];
  /** What the totals cover, if there are several totals. */
  label?: string;
  /** The response, which names the comparison range. */
  answer: { previous_start_date?: string; previous_end_date?: string };
}

export function Totals({ metrics, label, answer, before, ...figures }: TotalsProps) {
  const { previous_start_date: start, previous_end_date: end } = answer;
  return (
    <>
      <dl class="totals cards">
        {label !== undefined && (
          <Fact label="All in">
            <span class="unit">{label}</span>
          </Fact>
        )}
        {metrics.map((name) => (
          <Fact key={name} label={METRICS[name].label}>
            <strong>{text({ name, ...figures }, figures.of)}</strong>{' '}
            {before && <Change name={name} before={before} {...figures} />}
          </Fact>
        ))}
      </dl>
      {start && end && (
        <p class="note">
          {label === undefined ? 'Against' : `${label} against`} {rangeText(start, end)}.
        </p>
      )}
    </>
  );
}
