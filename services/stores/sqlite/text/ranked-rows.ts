import type { SortKey } from '../../../search/query.js';
import type { Connection } from '../connection.js';
import { countRows, newestRows, type OrderedRow, type RowSource } from './ordered-rows.js';
import type { MatchPlan } from './query-plan.js';

export interface RankedRow extends OrderedRow {
  rank: number;
}

/** The rows of a text search in the order of contract 3.9, from a position on, and how many there are in all. */
export function rankedRows(
  connection: Connection,
  source: Omit<RowSource, 'match'> & { index: 'contact_terms' | 'audience_terms' },
  plan: MatchPlan,
  limit: number,
  after?: SortKey,
): { rows: RankedRow[]; total: number } {
  const { index, ...base } = source;
  const matching = (expression: string): RowSource => ({ ...base, match: { index, expression } });
  const total = countRows(connection, matching(plan.all));
  const rows: RankedRow[] = [];
  let before = 0;
  for (const { cumulative, ranks } of plan.tiers) {
    const lastRank = ranks.at(-1)?.rank ?? 0;
    if (after && after.rank > lastRank) continue;
    if (rows.length >= limit || (!after && rows.length >= total)) break;
    // Past a cursor it is not known what came before, so only a search from the start can skip what is empty.
    let left = Number.POSITIVE_INFINITY;
    if (!after) {
      const upTo = cumulative === plan.all ? total : countRows(connection, matching(cumulative));
      left = upTo - before;
      before = upTo;
    }
    for (const { rank, match } of ranks) {
      if (left <= 0 || rows.length >= limit) break;
      if (after && after.rank > rank) continue;
      const found = newestRows(
        connection,
        matching(match),
        limit - rows.length,
        after?.rank === rank ? after : undefined,
      );
      left -= found.length;
      for (const row of found) rows.push({ ...row, rank });
    }
  }
  return { rows, total };
}
