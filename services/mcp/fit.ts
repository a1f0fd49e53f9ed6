/** Results of bounded size: a page that is too long is read again with fewer items. */
import { MAX_RESULT_CHARACTERS, type ResultOptions, resultText } from './result.js';

type Json = Record<string, unknown>;

/** Characters that stay for what the tool adds to the response. */
const RESERVED_CHARACTERS = 2000;
const ROOM = MAX_RESULT_CHARACTERS - RESERVED_CHARACTERS;

/** Parameters with the size of a page, and the parameter that names the page; null if a cursor names it. */
const PAGING = [
  ['limit', null],
  ['page_size', 'page'],
  ['campaign_page_size', 'campaign_page'],
] as const;

export interface Fitting {
  result: object;
  /** How to read what did not fit; absent if everything did. */
  cut?: string;
}

/** Runs a call, and repeats it with smaller pages while its result is too long. A result that cannot be cut is returned as it is. */
export async function fitting(
  run: (changed: Json) => Promise<object>,
  sent: Json,
  options: ResultOptions,
): Promise<Fitting> {
  let result = await run({});
  let { length } = resultText(result, options);
  const [sizeName, pageName] = PAGING.find(([name]) => typeof sent[name] === 'number') ?? [];
  let size = sizeName === undefined ? 1 : Number(sent[sizeName]);
  const before = pageName ? (Number(sent[pageName] ?? 1) - 1) * size : 0;
  let cut: string | undefined;
  while (sizeName !== undefined && length > ROOM && size > 1) {
    size = largestDivisor(before, Math.min(size - 1, Math.floor((size * ROOM) / length)));
    const page = before / size + 1;
    result = await run({ [sizeName]: size, ...(pageName && { [pageName]: page }) });
    ({ length } = resultText(result, options));
    cut = `Only ${size} items fit into a result. Go on with ${nextPage(result, sizeName, size, pageName, page)}.`;
  }
  return { result, cut };
}

/** The largest number up to `limit` that divides a number; every number divides 0. */
function largestDivisor(number: number, limit: number): number {
  for (let divisor = Math.max(1, limit); divisor > 1; divisor--) if (number % divisor === 0) return divisor;
  return 1;
}

function nextPage(
  result: object,
  sizeName: string,
  size: number,
  pageName: string | null | undefined,
  page: number,
): string {
  if (pageName) return `\`${sizeName}\` ${size} and \`${pageName}\` ${page + 1}`;
  return 'next_cursor' in result ? `\`cursor\` set to \`next_cursor\`` : 'LIMIT and OFFSET in the statement';
}
