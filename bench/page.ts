/** The table of docs/performance.md, which the bench writes: one row for each figure that has a target. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../services/shared/fs.js';
import type { Comparison, Figure } from './measure.js';

const HEAD = '| what | figure | absolute | target | measured |\n|---|---|---|---|---|\n';
const PAGE = join(packageRoot, 'docs/performance.md');

export function rowOf(result: Comparison | Figure): { what: string; cells: string[] } {
  const format = (value: number) =>
    value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
  const isRatio = 'ratio' in result;
  return {
    what: result.name,
    cells: [
      isRatio ? result.ratio.toFixed(2) : `${format(result.value)} ${result.unit}`,
      isRatio ? `${format(result.ours)} against ${format(result.base)} ${result.unit}` : '',
      result.met ? result.target : `${result.target}, missed`,
    ],
  };
}

/** The page with a row for each of `results`, in place of those of the same name. Throws where the page has no table. */
export function withFigures(page: string, results: readonly (Comparison | Figure)[], day: string): string {
  const [before = '', rest] = page.split(HEAD);
  if (rest === undefined) throw new Error('docs/performance.md has no table of figures');
  const [table = '', ...after] = rest.split('\n\n');
  const rows = new Map(table.split('\n').map((row) => [row.split(' | ')[0]?.slice(2), row]));
  for (const result of results.filter(({ target }) => target !== 'reported')) {
    const { what, cells } = rowOf(result);
    rows.set(what, `| ${[what, ...cells, day].join(' | ')} |`);
  }
  return before + HEAD + [[...rows.values()].join('\n'), ...after].join('\n\n');
}

export function writeFigures(results: readonly (Comparison | Figure)[]): void {
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(PAGE, withFigures(readFileSync(PAGE, 'utf8'), results, day));
}
