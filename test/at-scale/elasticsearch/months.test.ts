import { expect } from 'chai';
import { visitDocument } from '../../../services/stores/elasticsearch/visits.js';
import { toVisit } from '../../../services/visits/stored-visit.js';
import { freshOrganization } from '../../contract/record-store-support.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { openStore, testIndices } from './support.js';

describe('Months of visits on Elasticsearch', () => {
  it('stores late visits of a month whose index was deleted, in every process that wrote to it before', async () => {
    const indices = testIndices();
    const client = indices.client();
    const stores = [
      parsed(await openStore(indices.config)),
      parsed(await openStore(indices.config)),
    ] as const;
    const organizationId = freshOrganization();
    const insert = (store: ParsedStore, id: string) =>
      store.insertVisits(accepted([{ organizationId, id, createdAt: '2025-03-01T00:00:00Z' }], 0));
    for (const [index, store] of stores.entries()) await insert(store, `before_${index}`);

    const alias = `${indices.config.indexPrefix}-visits-2025.03`;
    await client.indices.delete({ index: Object.keys(await client.indices.getAlias({ name: alias })) });
    await Promise.all(stores.map((store, index) => insert(store, `after_${index}`)));

    const [store] = stores;
    await store.refresh();
    const page = await store.searchVisits({ organizationId, limit: 9 });
    expect(page.items.map(({ id }) => id)).to.deep.equal(['after_1', 'after_0']);
  });

  it('keeps and names an index whose visits are newer than its name says', async () => {
    const indices = testIndices();
    const client = indices.client();
    const lines: [level: string, message: string][] = [];
    const log = {
      info: (_: object, message: string) => void lines.push(['info', message]),
      warn: (_: object, message: string) => void lines.push(['warn', message]),
    };
    const store = parsed(await openStore(indices.config, { log }));
    const organizationId = freshOrganization();
    const at = (id: string, createdAt: string) => ({ organizationId, id, createdAt });
    await store.insertVisits(
      accepted([at('old', '2025-03-01T00:00:00Z'), at('new', '2026-03-01T00:00:00Z')], 0),
    );
    await store.refresh();
    const record = at('wrong', '2026-03-02T00:00:00Z');
    await client.index({
      index: `${indices.config.indexPrefix}-visits-2025.03`,
      id: 'wrong',
      routing: organizationId,
      document: visitDocument(toVisit(record, Date.parse(record.createdAt)), '1'),
    });
    const cutoff = Date.UTC(2026, 0, 1);
    while ((await store.deleteVisitsBefore(cutoff, 10)) > 0);
    await store.refresh();
    const page = await store.searchVisits({ organizationId, limit: 9 });
    expect(page.items.map(({ id }) => id)).to.deep.equal(['wrong', 'new']);
    expect(lines.map(([level]) => level))
      .to.include('warn')
      .and.not.include('info');
  });
});
