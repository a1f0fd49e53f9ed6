import type { SortKey } from '../../../search/query.js';
import type { Connection } from '../connection.js';
import type { FtsQuery } from './fts-query.js';
import { countRows, newestRows, type OrderedRow, type RowSource } from './ordered-rows.js';
import type { MatchPlan } from './query-plan.js';
import type { TextIndex } from './text-index.js';

export interface RankedRow extends OrderedRow {
  rank: number;
}

/** Rows of a text search in the order of contract 3.9, from the end of the previous page on, and their total, 0 where it is skipped. */
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
  for (const { cumulative, ranks } of plan.tiers) {
    const lastRank = ranks.at(-1)?.rank ?? 0;
    if (after && after.rank > lastRank) continue;
    if (rows.length >= limit || (!after && rows.length >= total)) break;
    // Behind a cursor the number of earlier rows is unknown, so only a first page can skip empty ranks.
    let remaining = Number.POSITIVE_INFINITY;
    if (!after) {
      const upTo = cumulative === plan.all ? total : countRows(connection, matching(cumulative));
      remaining = upTo - before;
      before = upTo;
    }
    for (const { rank, match } of ranks) {
      if (remaining <= 0 || rows.length >= limit) break;
      if (after && after.rank > rank) continue;
      const found = newestRows(
        connection,
        matching(match),
        limit - rows.length,
        after?.rank === rank ? after : undefined,
      );
      remaining -= found.length;
      for (const row of found) rows.push({ ...row, rank });
    }
  }
  return { rows, total };
}
