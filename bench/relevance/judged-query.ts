/** A query with the records that a person would call right, judged from the records alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import type { RECORD_SETS, RecordSet, SearchedRecord } from './record-sets.js';

export interface JudgedQuery {
  kind: string;
  /** The records searched. */
  set: keyof typeof RECORD_SETS;
  operation: 'contacts' | 'audiences';
  query?: string;
  filters?: Record<string, string>;
  /** Right are the records with one of these ids, or with all fields of one of these patterns. */
  right: { ids: string[] } | { where: Record<string, string>[] };
  /** Where the person has neighbours (`record-sets.ts`), these are right as well. */
  also?: 'relatives' | 'colleagues';
  /** All right records and no other ones match. */
  all?: true;
  /** The one record that must be among the first three; any right record where absent. */
  wanted?: string;
  why: string;
}

const read = (file: string) =>
  readFileSync(join(packageRoot, 'bench/relevance', file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JudgedQuery);

/** Judged by a person, and drawn from the records once. */
export const judgedQueries = (): JudgedQuery[] => [...read('by-hand.jsonl'), ...read('drawn.jsonl')];

/** Of the made people, in words that their records do not hold: other titles, legal forms, cities, numbers, names and typos. */
export const forgivingQueries = (): JudgedQuery[] => read('forgiving.jsonl');

/**
 * As people type at the door: quoted names, numbers with a country code, questions, noise words, titles in other words, pasted
 * addresses. Written before the rules that answer them.
 */
export const doorQueries = (): JudgedQuery[] => read('door.jsonl');

/** The same with a relative and two colleagues beside each person. */
export const crowdQueries = (): JudgedQuery[] => doorQueries().map((judged) => ({ ...judged, set: 'crowd' }));

/** The same among the 44 people alone. */
export const fewQueries = (): JudgedQuery[] => doorQueries().map((judged) => ({ ...judged, set: 'few' }));

/** Filters of a segment: all that are right are wanted, and no other. */
export const segmentFilters = (): JudgedQuery[] => read('segment-filters.jsonl');

/** The ids of the right records. */
export function rightIds({ right, operation, also }: JudgedQuery, set: RecordSet): Set<string> {
  if ('ids' in right) {
    const neighbours = set[operation].filter(({ id }) =>
      right.ids.some((own) => id.startsWith(`${own}_${also?.slice(0, -1)}`)),
    );
    return new Set([...right.ids, ...neighbours.map(({ id }) => id)]);
  }
  const records = set[operation].filter((record) => right.where.some((pattern) => fits(record, pattern)));
  return new Set(records.map(({ id }) => id));
}

function fits({ fields }: SearchedRecord, pattern: Record<string, string>): boolean {
  return Object.entries(pattern).every(([field, value]) => {
    const own = fields[field];
    return Array.isArray(own) ? own.includes(value) : own === value;
  });
}
