import { RATES, SUMMED_METRICS } from '../advertising/metrics.js';

/** Unit and meaning of all advertising metrics, with the formula of rates (contract 5.2). */
export const metricDescriptions: Readonly<Record<string, string>> = Object.fromEntries([
  ...Object.entries(SUMMED_METRICS).map(([name, { kind, description }]) => [name, `${kind}. ${description}`]),
  ...Object.entries(RATES).map(([name, { numerator, denominator, factor, description }]) => [
    name,
    `ratio. ${description} ${factor === 1 ? '' : `${factor} × `}sum(${numerator}) ÷ sum(${denominator}); absent where the denominator is 0.`,
  ]),
]);
