import { distanceWithin, fold } from './text.js';

/** The candidate a misspelt name most likely meant; null when none is near. */
export function closest(name: string, candidates: readonly string[]): string | null {
  if (name.length > 128) return null;
  const given = plain(name);
  if (given.length > 64) return null;
  for (const limit of [0, 1, 2, 3]) {
    if (limit > given.length / 3) break;
    const found = candidates.find((candidate) => distanceWithin(given, plain(candidate), limit) !== null);
    if (found !== undefined) return found;
  }
  return null;
}

/** Underscores, dashes and case are the first things people get wrong: `firstName` is near `first_name`. */
const plain = (name: string) => fold(name).replace(/[_\-\s]/g, '');
