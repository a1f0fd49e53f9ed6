import type { SortKey } from '../../../search/query.js';
import type { Connection } from '../connection.js';
import type { FtsQuery } from './fts-query.js';
import { countRows, gradedRows, newestRows, type RankedRow, type RowSource } from './ordered-rows.js';
import type { MatchPlan, RankStep } from './query-plan.js';
import type { TextIndex } from './text-index.js';

/**
 * Rows of a text search in the order of contract 3.9, after the end of the previous page, with the total number of matches, which is 0 if
 * the caller skips counting.
 */
export function rankedRows(
  connection: Connection,
  source: Omit<RowSource, 'match'> & { index: TextIndex },
  plan: MatchPlan,
  limit: number,
  { after, skipsTotal = false }: { after?: SortKey; skipsTotal?: boolean } = {},
): { rows: RankedRow[]; total: number } {
  const { index, ...base } = source;
  const matching = (query: FtsQuery): RowSource => ({ ...base, match: { index, query } });
  const total = after && skipsTotal ? 0 : countRows(connection, matching(plan.all));
  const rows: RankedRow[] = [];
  let before = 0;
  for (const { lastRank, cumulative, steps } of plan.classes) {
    if (after && after.rank > lastRank) continue;
    if (rows.length >= limit || (!after && rows.length >= total)) break;
    // The number of rows before a cursor is unknown, so only a first page can skip empty steps.
    let remaining = Number.POSITIVE_INFINITY;
    if (!after) {
      const upTo = cumulative.text === plan.all.text ? total : countRows(connection, matching(cumulative));
      remaining = upTo - before;
      before = upTo;
    }
    if (remaining <= 0) continue;
    for (const step of steps()) {
      if (remaining <= 0 || rows.length >= limit) break;
      const found = rowsOfStep(connection, matching, step, limit - rows.length, after);
      remaining -= found.length;
      rows.push(...found);
    }
  }
  return { rows, total };
}

function rowsOfStep(
  connection: Connection,
  matching: (query: FtsQuery) => RowSource,
  { ranks: [first, last], match, grades }: RankStep,
  limit: number,
  after: SortKey | undefined,
): RankedRow[] {
  if (after && after.rank > last) return [];
  const isWithin = after !== undefined && after.rank >= first;
  if (!grades) {
    return newestRows(connection, matching(match), limit, isWithin ? after : undefined, first);
  }
  const rows = gradedRows(
    connection,
    matching(match),
    grades.map(({ match: graded, ...grade }) => ({ ...grade, source: matching(graded) })),
    limit,
    isWithin ? { ...after, points: last - after.rank } : undefined,
  );
  return rows.map(({ points, ...row }) => ({ ...row, rank: last - points }));
}
