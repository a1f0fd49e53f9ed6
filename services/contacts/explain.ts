/** Explains why contacts were found, and why they are in this order (contract 3.9). */
import { explainMatch } from '../search/explain.js';
import type { Page, TextQuery } from '../search/query.js';
import { Ranking } from '../search/ranking.js';
import { TimeSlice } from '../shared/async.js';
import { fromJson, type Json } from '../shared/json.js';
import type { ContactPage } from './contact-store.js';
import type { Contact, Explanation } from './schema.js';
import { searchedValues } from './searchable.js';

/** An explanation of each contact of a page. Tier and typos come from the rank by which the store ordered the page. */
export async function explainPage(
  { items, ranks = [], partial }: Page<Json<Contact>> & Pick<ContactPage, 'partial'>,
  query: TextQuery | undefined,
  signal?: AbortSignal,
): Promise<Explanation[]> {
  if (!query || query.required.length === 0) {
    return items.map((item) => ({ contact_id: fromJson(item).contact_id, tier: null, typos: 0, words: [] }));
  }
  const ranking = new Ranking(query, partial?.matched);
  const slice = new TimeSlice();
  const explanations: Explanation[] = [];
  for (const [index, item] of items.entries()) {
    const contact = fromJson(item);
    const words = explainMatch(query, searchedValues(contact));
    explanations.push({
      contact_id: contact.contact_id,
      ...ranking.tierOf(ranks[index] as number),
      words,
    });
    if (slice.shouldYield(item.length)) await slice.yieldToEventLoop(signal);
  }
  return explanations;
}
