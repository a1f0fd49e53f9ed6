import { RATES, SUMMED_METRICS } from '../advertising/metrics.js';

export interface MetricDescription {
  name: string;
  unit: 'count' | 'money' | 'ratio';
  description: string;
  formula: string;
}

/** All advertising metrics with their formulas (contract 5.2). */
export const metricDescriptions: readonly MetricDescription[] = [
  ...Object.entries(SUMMED_METRICS).map(([name, { kind, description }]) => ({
    name,
    unit: kind,
    description,
    formula: `sum(${name})`,
  })),
  ...Object.entries(RATES).map(([name, { numerator, denominator, factor, description }]) => ({
    name,
    unit: 'ratio' as const,
    description,
    formula: `${factor === 1 ? '' : `${factor} × `}sum(${numerator}) ÷ sum(${denominator}); null where the denominator is 0`,
  })),
];
