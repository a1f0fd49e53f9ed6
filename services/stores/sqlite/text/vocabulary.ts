import { codePoints, distanceWithin } from '../../../shared/text.js';
import type { Connection } from '../connection.js';
import { TEXT_INDEXES, type TextIndex } from '../writes/write-session.js';
import type { FindSimilar } from './query-plan.js';

/** Near words asked for in place of one word of a query: as many as contract 3.9 lets no store leave out. */
const MAX_SIMILAR = 1000;

/** Finds words of one organization's index that begin with the same letter and are few typos away, the nearest first. */
export function similarWords(connection: Connection, index: TextIndex, organization: number): FindSimilar {
  return (word, typos) => {
    const length = codePoints(word);
    const candidates = connection.rows<[string]>(
      `SELECT word FROM vocabulary
        WHERE organization = ? AND indexed = ? AND first = ? AND length BETWEEN ? AND ?`,
      organization,
      TEXT_INDEXES[index],
      String.fromCodePoint(word.codePointAt(0) as number),
      length - typos,
      length + typos,
    );
    const byDistance: string[][] = [[], [], []];
    for (const [candidate] of candidates) {
      const distance = distanceWithin(candidate, word, typos);
      if (distance !== null && distance > 0) byDistance[distance]?.push(candidate);
    }
    return byDistance.flat().slice(0, MAX_SIMILAR);
  };
}
