/** Results of bounded size: a page that is too long is read again with fewer items. */
import { MAX_RESULT_CHARACTERS, type ResultOptions, resultText } from './result.js';

type Json = Record<string, unknown>;

/** Characters that stay for what the tool adds to the response. */
const RESERVED_CHARACTERS = 2000;
const ROOM = MAX_RESULT_CHARACTERS - RESERVED_CHARACTERS;

/** Parameters with the size of a page, and the parameter that names the page; null if a cursor or SQL names it. */
const PAGING = [
  ['limit', 'page'],
  ['page_size', 'page'],
  ['campaign_page_size', 'campaign_page'],
  ['limit', null],
] as const;

export interface Fitting {
  result: object;
  /** How to read what did not fit; absent if everything did. */
  cut?: string;
}

/**
 * Runs a call with `sent`, and repeats it with smaller pages while its result is too long. Each page begins with the same item. A result
 * that cannot be cut is returned as it is. `fields` are those that the tool takes.
 */
export async function fitting(
  run: (changed: Json) => Promise<object>,
  sent: Json,
  fields: Json,
  options: ResultOptions,
): Promise<Fitting> {
  let result = await run({});
  let { length } = resultText(result, options);
  const [sizeName, pageName] =
    PAGING.find(([size, page]) => typeof sent[size] === 'number' && (page === null || page in fields)) ?? [];
  let size = sizeName === undefined ? 1 : Number(sent[sizeName]);
  const before = pageName ? (Number(sent[pageName] ?? 1) - 1) * size : 0;
  let cut: string | undefined;
  while (sizeName !== undefined && length > ROOM && size > 1) {
    size = largestDivisor(before, Math.min(size - 1, Math.floor((size * ROOM) / length)));
    const page = before / size + 1;
    result = await run({ [sizeName]: size, ...(pageName && { [pageName]: page }) });
    ({ length } = resultText(result, options));
    const next = pageName ? `\`${sizeName}\` ${size} and \`${pageName}\` ${page + 1}` : nextPart(fields);
    cut = `Only ${size} items fit into a result. Go on with ${next}.`;
  }
  return { result, cut };
}

/** The largest number up to `limit` that divides a number; every number divides 0. */
function largestDivisor(number: number, limit: number): number {
  for (let divisor = Math.max(1, limit); divisor > 1; divisor--) if (number % divisor === 0) return divisor;
  return 1;
}

const nextPart = (fields: Json): string =>
  'statement' in fields ? 'LIMIT and OFFSET in the statement' : '`cursor` set to `next_cursor`';
