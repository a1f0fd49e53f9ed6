import { codePoints, withinDistance } from '../../shared/text.js';
import type { Connection } from './connection.js';
import type { FindSimilar } from './match-plan.js';
import { TEXT_INDEXES, type TextIndex } from './write-session.js';

/** Finds words of one organization's index that begin with the same letter and are few typos away. */
export function similarWords(connection: Connection, index: TextIndex, organization: number): FindSimilar {
  return (word, typos) => {
    const length = codePoints(word);
    return connection
      .rows<[string]>(
        `SELECT word FROM vocabulary
          WHERE organization = ? AND indexed = ? AND first = ? AND length BETWEEN ? AND ?`,
        organization,
        TEXT_INDEXES[index],
        String.fromCodePoint(word.codePointAt(0) as number),
        length - typos,
        length + typos,
      )
      .map(([candidate]) => candidate)
      .filter((candidate) => candidate !== word && withinDistance(candidate, word, typos));
  };
}
