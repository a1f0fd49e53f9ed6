import type { TextQuery } from '../search/query.js';
import { parseQuery } from '../search/query-parser.js';
import { invalid, noWords } from './problems.js';

/** Parses `query`; undefined when absent. Throws 422 for too many words or none. */
export function toTextQuery(text: string | null | undefined): TextQuery | undefined {
  if (!text) return undefined;
  const query = parseQuery(text);
  if ('code' in query) throw invalid({ pointer: '/query', ...query });
  if (query.required.length + query.excluded.length === 0) throw noWords('query');
  return query;
}
