/** bench/peers/figures.json, which a run updates, and the tables of docs/performance.md that are made from it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import { utcDate } from '../../services/shared/time.js';
import type { Comparison } from '../measure.js';

const FIGURES = join(packageRoot, 'bench/peers/figures.json');
const PAGE = join(packageRoot, 'docs/performance.md');
const HEADING = '## Beside others\n\n';
const END = '\n## ';

/** A figure of processor time, named `work ÷ peer, records`. */
export interface PeerFigure extends Comparison {
  day: string;
  /** Of the machine, when the run ended. */
  load: number;
}

export function writePeers(results: readonly Comparison[]): void {
  const [load = 0] = loadavg();
  const day = utcDate(Date.now());
  const figures = readPeers();
  for (const each of results) {
    const at = figures.findIndex(({ name }) => name === each.name);
    figures.splice(at === -1 ? figures.length : at, 1, { ...each, day, load });
  }
  writeFileSync(FIGURES, `${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(PAGE, withPeers(readFileSync(PAGE, 'utf8'), figures));
}

export const readPeers = () => JSON.parse(readFileSync(FIGURES, 'utf8')) as PeerFigure[];

/** The page with a table for each set of records: rows of work, columns of peers. Throws where the page has no such part. */
export function withPeers(page: string, figures: readonly PeerFigure[]): string {
  const start = page.indexOf(HEADING);
  if (start === -1) throw new Error('docs/performance.md has no part for peers');
  const [introduction = ''] = page.slice(start + HEADING.length).split('\n\n');
  const end = page.indexOf(END, start + HEADING.length);
  return `${page.slice(0, start)}${HEADING}${introduction}\n\n${tablesOf(figures).join('\n')}${page.slice(end)}`;
}

function tablesOf(figures: readonly PeerFigure[]): string[] {
  const parsed = figures.map((figure) => {
    const [, work = '', peer = '', records = ''] = /^(.*) ÷ ([^,]*), (.*)$/.exec(figure.name) ?? [];
    return { ...figure, work, peer, records };
  });
  const distinct = <Key extends 'work' | 'peer' | 'records'>(list: typeof parsed, key: Key) => [
    ...new Set(list.map((figure) => figure[key])),
  ];
  return distinct(parsed, 'records').map((records) => {
    const ofThem = parsed.filter((figure) => figure.records === records);
    const peers = distinct(ofThem, 'peer');
    const rows = distinct(ofThem, 'work').map((work) => [
      work,
      ...peers.map((peer) => cellOf(ofThem.find((cell) => cell.work === work && cell.peer === peer))),
    ]);
    const lines = [[records, ...peers], [records, ...peers].map(() => '---'), ...rows];
    return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
  });
}

const cellOf = (figure: PeerFigure | undefined) =>
  figure === undefined
    ? ''
    : `${figure.met ? '' : '**'}${figure.ratio.toFixed(2)}${figure.met ? '' : '**'} of ${rounded(figure.base)} ${figure.unit}`;

const rounded = (value: number) => Number(value.toPrecision(3)).toLocaleString('en');
