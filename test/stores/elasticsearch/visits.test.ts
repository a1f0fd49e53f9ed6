import { expect } from 'chai';
import { fromJson } from '../../../services/shared/json.js';
import { toDocument } from '../../../services/stores/elasticsearch/migrations/derivations.js';
import { readDefinition } from '../../../services/stores/elasticsearch/migrations/indices.js';
import { pageSort } from '../../../services/stores/elasticsearch/pages.js';
import { type VisitSource, visitQuery } from '../../../services/stores/elasticsearch/visits.js';
import { toVisit } from '../../../services/visits/stored-visit.js';

/** How often each kind of clause occurs anywhere in a query. */
function kindsOf(query: unknown, kinds = new Map<string, number>()): Map<string, number> {
  if (typeof query !== 'object' || query === null) return kinds;
  for (const [kind, part] of Object.entries(query)) {
    if (!Array.isArray(query)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    kindsOf(part, kinds);
  }
  return kinds;
}

describe('The query of a visit search on Elasticsearch', () => {
  for (const [what, text] of [
    ['one letter repeated', 'a'.repeat(1024)],
    ['no letter twice in a row', '/summer-sale'.repeat(86).slice(0, 1024)],
    ['characters outside the basic plane', '🙂'.repeat(1024)],
    ['sixteen characters', 'a'.repeat(16)],
    ['one character', 'a'],
  ]) {
    it(`searches at most nine grams per field and no regular expression for ${what}`, () => {
      const fields = { startUrl: text, browser: text, platform: text };
      for (const field of ['startUrl', 'browser', 'platform'] as const) {
        const { query } = visitQuery({ organizationId: 'org', limit: 10, [field]: text });
        const kinds = kindsOf(query);
        expect(kinds.get('span_term') ?? 0).to.be.at.most(9);
        expect((kinds.get('span_term') ?? 0) + (kinds.get('prefix') ?? 0)).to.be.at.least(1);
      }
      const kinds = kindsOf(visitQuery({ organizationId: 'org', limit: 10, ...fields }).query);
      expect(kinds.has('regexp')).to.equal(false);
      expect(kinds.has('wildcard')).to.equal(false);
    });
  }
});

it('A visit indexed before visits had a company has none once it is reindexed', () => {
  const { companyDomain: _, ...old } = toVisit(
    { id: 'v', organizationId: 'o', createdAt: '2026-01-01T00:00:00Z' },
    0,
  );
  const document = toDocument('visits', { visit: JSON.stringify(old), record_order: '0' }) as VisitSource;
  expect(fromJson(document.visit)).to.deep.equal({ ...old, companyDomain: null });
});

for (const [resource, id] of [
  ['contacts', 'contact_id'],
  ['visits', 'visit_id'],
] as const) {
  it(`An index of ${resource} is sorted as its pages are, so that a page ends with its last item`, () => {
    const { settings } = readDefinition(resource);
    const fields = settings['sort.field'] as string[];
    const orders = settings['sort.order'] as string[];
    expect(fields.map((field, index) => ({ [field]: orders[index] }))).to.deep.equal(pageSort(id, false));
  });
}
