/** Seniority and department of a job title (contract 3.1), by the tables in `equivalents/`. */
import { hash } from 'node:crypto';
import { memoize } from '../shared/cache.js';
import { words } from '../shared/text.js';
import { rowsOf, TEXTS } from './equivalents.js';

/** Seniorities, highest first. */
export const SENIORITIES = ['owner', 'c_level', 'vp', 'director', 'manager', 'senior', 'entry'] as const;
export type Seniority = (typeof SENIORITIES)[number];

export const DEPARTMENTS = [
  'communications',
  'customer_service',
  'data',
  'design',
  'education',
  'engineering',
  'finance',
  'health',
  'human_resources',
  'information_technology',
  'legal',
  'marketing',
  'operations',
  'product',
  'research',
  'sales',
] as const;
export type Department = (typeof DEPARTMENTS)[number];

/** Version of the tables, stored with every contact: with another version of the tables, all contacts must be derived again. */
export const TITLE_TABLES_VERSION: string = hash(
  'sha256',
  JSON.stringify([TEXTS.seniority, TEXTS.department]),
).slice(0, 12);

/** Classes of a title. A class is null if the tables have no matching row. */
export interface TitleClasses {
  seniority: Seniority | null;
  department: Department | null;
}

interface Row<Class> {
  /** Line number of the row in the table. */
  line: number;
  /** Class of the row. `none` marks words that mean no class. `end` means that words after the row do not count. */
  name: Class | 'none' | 'end';
}

interface Table<Class> {
  /** Rows of the table by each of their runs of words. */
  rows: Map<string, Row<Class>>;
  /** Number of words in the longest run. */
  longest: number;
}

const NAMES: ReadonlySet<string> = new Set([...SENIORITIES, ...DEPARTMENTS, 'none', 'end']);

function tableOf<Class extends string>(text: string): Table<Class> {
  const table: Table<Class> = { rows: new Map(), longest: 0 };
  for (const [line, row] of rowsOf(text).entries()) {
    const [name = '', runs = ''] = row.split(': ');
    if (!NAMES.has(name)) throw new Error(`a table of titles has a row of ${JSON.stringify(name)}`);
    for (const run of runs.split(', ').map(words)) {
      const key = run.join(' ');
      if (!table.rows.has(key)) table.rows.set(key, { line, name: name as Row<Class>['name'] });
      table.longest = Math.max(table.longest, run.length);
    }
  }
  return table;
}

const seniorities = tableOf<Seniority>(TEXTS.seniority);
const departments = tableOf<Department>(TEXTS.department);

/**
 * Takes the longest runs of words in the table from left to right; a word belongs to at most one run. Returns the class whose line comes
 * first.
 */
function classOf<Class extends string>(
  { rows, longest }: Table<Class>,
  title: readonly string[],
): Class | null {
  let best: Row<Class> | undefined;
  for (let start = 0; start < title.length; start++) {
    for (let length = Math.min(longest, title.length - start); length > 0; length--) {
      const row = rows.get(title.slice(start, start + length).join(' '));
      if (!row) continue;
      if (row.name === 'end') return classNameOf(best);
      if (row.name !== 'none' && (!best || row.line < best.line)) best = row;
      start += length - 1;
      break;
    }
  }
  return classNameOf(best);
}

const classNameOf = <Class>(row: Row<Class> | undefined): Class | null =>
  (row?.name as Class | undefined) ?? null;

const NO_CLASSES: TitleClasses = { seniority: null, department: null };

const classesOf = memoize((title: string): TitleClasses => {
  const given = words(title);
  return { seniority: classOf(seniorities, given), department: classOf(departments, given) };
});

export const titleClasses = (title: string | null): TitleClasses =>
  title === null ? NO_CLASSES : classesOf(title);
