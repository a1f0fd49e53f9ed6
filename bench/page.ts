/** The figures that a target judges: bench/figures.json, which a run updates, and the tables of docs/performance.md made from it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../services/shared/fs.js';
import { utcDate } from '../services/shared/time.js';
import type { Comparison, Figure } from './measure.js';

const FIGURES = join(packageRoot, 'bench/figures.json');
const PAGE = join(packageRoot, 'docs/performance.md');
/** Parts of the page, each a paragraph and its tables. */
const OURS = '## Figures\n\n';
const PEERS = '## Beside others\n\n';

type Recorded = (Comparison | Figure) & {
  day: string;
  /** Of the machine, when the run ended. */
  load?: number;
};

export const readFigures = () => JSON.parse(readFileSync(FIGURES, 'utf8')) as Recorded[];

export function writeFigures(results: readonly (Comparison | Figure)[]): void {
  const [load = 0] = loadavg();
  const day = utcDate(Date.now());
  const figures = new Map(readFigures().map((each) => [each.name, each]));
  for (const each of results.filter(({ target }) => target !== 'reported')) {
    figures.set(each.name, { ...each, day, load: Math.round(load) });
  }
  writeFileSync(FIGURES, `${JSON.stringify([...figures.values()], null, 2)}\n`);
  writeFileSync(PAGE, withFigures(readFileSync(PAGE, 'utf8'), [...figures.values()]));
}

/** The page with tables of `figures`. Throws where it has no place for them. */
export function withFigures(page: string, figures: readonly (Comparison | Figure)[]): string {
  const beside = figures.flatMap((figure) => {
    const [, work, peer, records] = PEER.exec(figure.name) ?? [];
    if (!work || !peer || !records || !('ratio' in figure)) return [];
    if (records.endsWith(' contacts') && records !== SHOWN_CONTACTS) return [];
    return [{ ...figure, work, peer, records: `${records}, ${figure.unit}` }];
  });
  const ours = figures.filter(({ name }) => !PEER.test(name)).map(cellsOf);
  return withTables(
    withTables(page, OURS, [table([['what', 'figure', 'target'], ...ours])]),
    PEERS,
    distinct(beside, 'records').map((records) => {
      const rows = beside.filter((each) => each.records === records);
      const peers = distinct(rows, 'peer');
      const cells = distinct(rows, 'work').map((work) => [
        work,
        ...peers.map((peer) => peerCell(rows.find((each) => each.work === work && each.peer === peer))),
      ]);
      return table([[records, ...peers], ...cells]);
    }),
  );
}

/** The page shows one number of contacts; `bench/figures.json` has what was measured of others. */
const SHOWN_CONTACTS = '100,000 contacts';

/** Work, peer and records. */
const PEER = /^(.*) ÷ (DuckDB|PostgreSQL|plain Elasticsearch(?: without our gateway)?), (.*)$/;

export function cellsOf(result: Comparison | Figure): string[] {
  const format = (value: number) =>
    value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
  return [
    result.name,
    'ratio' in result
      ? `${result.ratio.toFixed(2)} (${format(result.ours)} against ${format(result.base)} ${result.unit})`
      : `${format(result.value)} ${result.unit}`,
    result.met ? result.target : `${result.target}, missed`,
  ];
}

function peerCell(figure: Comparison | undefined): string {
  if (!figure) return '';
  const ratio = figure.ratio.toFixed(2);
  const base = Number(figure.base.toPrecision(3)).toLocaleString('en');
  return `${figure.met ? ratio : `**${ratio}**`} (${base})`;
}

function withTables(page: string, heading: string, tables: readonly string[]): string {
  const [before = '', rest] = page.split(heading);
  if (rest === undefined) throw new Error(`docs/performance.md has no part ${heading.trim()}`);
  const [introduction = '', ...paragraphs] = rest.split('\n\n');
  const after = paragraphs.findIndex((each) => !each.startsWith('| '));
  return before + heading + [introduction, ...tables, ...paragraphs.slice(after)].join('\n\n');
}

function table([head = [], ...rows]: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

const distinct = <Key extends string>(list: readonly Record<Key, string>[], key: Key) => [
  ...new Set(list.map((each) => each[key])),
];
