/** The alphabetic words in the text indexes of an organization, for queries with typos. */

import type { Equivalent, TextQuery } from '../../../search/query.js';
import { equivalentsOf } from '../../../search/ranking.js';
import { isTypoCandidate } from '../../../search/typos.js';
import { sql } from '../../../shared/sql.js';
import { codePoints, distanceWithin } from '../../../shared/text.js';
import type { Connection } from '../connection.js';
import type { FindSimilar } from './query-plan.js';
import { TEXT_INDEXES, type TextIndex } from './text-index.js';

/** Maximum similar words per word of a query: as many as contract 3.9 requires of every store. */
const MAX_SIMILAR = 1000;

export function addToVocabulary(
  connection: Connection,
  index: TextIndex,
  organization: number,
  words: readonly string[],
): void {
  connection.run(
    sql`INSERT INTO vocabulary (organization, indexed, first, length, word)
     SELECT ?, ?, substr(value, 1, 1), length(value), value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
    organization,
    TEXT_INDEXES[index],
    JSON.stringify(words),
  );
}

export function removeFromVocabulary(
  connection: Connection,
  index: TextIndex,
  organization: number,
  word: string,
): void {
  connection.run(
    sql`DELETE FROM vocabulary WHERE organization = ? AND indexed = ? AND first = ? AND length = ? AND word = ?`,
    organization,
    TEXT_INDEXES[index],
    firstLetter(word),
    codePoints(word),
    word,
  );
}

/** Finds words with the same first letter within an edit distance, grouped by distance from 1. */
export function similarWords(connection: Connection, index: TextIndex, organization: number): FindSimilar {
  return (word, typos) => {
    const length = codePoints(word);
    // Returns one text, because handing a row over takes longer than reading it. Words contain no line breaks.
    const [candidates] = connection.row<[string | null]>(
      sql`SELECT group_concat(word, char(10)) FROM vocabulary
        WHERE organization = ? AND indexed = ? AND first = ? AND length BETWEEN ? AND ?`,
      organization,
      TEXT_INDEXES[index],
      firstLetter(word),
      length - typos,
      length + typos,
    ) as [string | null];
    const byDistance: string[][] = [[], [], []];
    for (const candidate of candidates?.split('\n') ?? []) {
      const distance = distanceWithin(candidate, word, typos);
      if (distance !== null && distance > 0) byDistance[distance]?.push(candidate);
    }
    let room = MAX_SIMILAR;
    return byDistance.slice(1, typos + 1).map((words) => {
      const nearest = words.slice(0, room);
      room -= nearest.length;
      return nearest;
    });
  };
}

/**
 * The query without equivalents whose words occur in no row: otherwise, the index would look for these equivalents again in each class of
 * the order.
 */
export function withHeldEquivalents(
  connection: Connection,
  index: TextIndex,
  organization: number,
  query: TextQuery,
): TextQuery {
  const words = new Set(
    query.required.flatMap((term) =>
      equivalentsOf(term).flatMap((each) => each.words.filter(isTypoCandidate)),
    ),
  );
  if (words.size === 0) return query;
  const held = new Set(
    connection
      .rows<[string]>(
        sql`SELECT v.word FROM json_each(?) w CROSS JOIN vocabulary v ON v.organization = ? AND v.indexed = ?
          AND v.first = substr(w.value, 1, 1) AND v.length = length(w.value) AND v.word = w.value`,
        JSON.stringify([...words]),
        organization,
        TEXT_INDEXES[index],
      )
      .map(([word]) => word),
  );
  const isHeld = (equivalent: Equivalent) =>
    equivalent.words.every((word) => !words.has(word) || held.has(word));
  const required = query.required.map((term) =>
    equivalentsOf(term).length > 0 ? { ...term, equivalents: equivalentsOf(term).filter(isHeld) } : term,
  );
  return { ...query, required };
}

function firstLetter(word: string): string {
  return String.fromCodePoint(word.codePointAt(0) as number);
}
