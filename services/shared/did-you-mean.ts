import { distanceWithin, fold } from './text.js';

const MAX_NAME_LENGTH = 64;
const MAX_DISTANCE = 3;

/**
 * "Did you mean first_name?" for a misspelt name; '' if no known name is within 3 edits (at most a third of its letters). Case, underscores
 * and dashes do not count: `firstName` suggests `first_name`. `prefix` is put before the suggestion.
 */
export function didYouMean(name: string, known: readonly string[], prefix = ''): string {
  if (name.length > 2 * MAX_NAME_LENGTH) return '';
  const letters = comparable(name);
  if (letters.length > MAX_NAME_LENGTH) return '';
  for (let limit = 0; limit <= Math.min(MAX_DISTANCE, letters.length / 3); limit++) {
    const found = known.find((each) => distanceWithin(letters, comparable(each), limit) !== null);
    if (found !== undefined) return `Did you mean ${prefix}${found}?`;
  }
  return '';
}

const comparable = (name: string) => fold(name).replace(/[_\-\s]/g, '');
