/** A query with the records that a person would call right, judged from the records alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import type { RecordSet, SearchedRecord } from './record-sets.js';

export interface JudgedQuery {
  kind: string;
  /** The records searched: those of Congress or the sample. */
  set: 'congress' | 'sample';
  operation: 'contacts' | 'audiences';
  query?: string;
  filters?: Record<string, string>;
  /** Right are the records with one of these ids, or with all fields of one of these patterns. */
  right: { ids: string[] } | { where: Record<string, string>[] };
  /** All right records and no other ones match. */
  all?: true;
  /** The one record that must be among the first three; any right record where absent. */
  wanted?: string;
  why: string;
}

/** Judged by a person, and drawn from the records once. */
const FILES = ['by-hand.jsonl', 'drawn.jsonl'];

export function judgedQueries(): JudgedQuery[] {
  return FILES.flatMap((file) =>
    readFileSync(join(packageRoot, 'bench/relevance', file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JudgedQuery),
  );
}

/** The ids of the right records. */
export function rightIds({ right, operation }: JudgedQuery, set: RecordSet): Set<string> {
  if ('ids' in right) return new Set(right.ids);
  const records = set[operation].filter((record) => right.where.some((pattern) => fits(record, pattern)));
  return new Set(records.map(({ id }) => id));
}

function fits({ fields }: SearchedRecord, pattern: Record<string, string>): boolean {
  return Object.entries(pattern).every(([field, value]) => {
    const own = fields[field];
    return Array.isArray(own) ? own.includes(value) : own === value;
  });
}
