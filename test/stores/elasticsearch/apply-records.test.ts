import { expect } from 'chai';
import { KeyedMutex } from '../../../services/shared/async.js';
import { type ApplyOptions, applyRecords } from '../../../services/stores/elasticsearch/apply-records.js';
import type { Documents, DocumentWrite } from '../../../services/stores/elasticsearch/documents.js';

interface Counter {
  count: number;
}

const COUNTING: ApplyOptions<Counter, Counter, string> = {
  idOf: (id) => id,
  routingOf: () => 'org',
  fromSource: (source) => source,
  apply: (before) => ({ count: (before?.count ?? 0) + 1 }),
  toDocument: (state) => state,
};

/** Documents in memory, and the requests for them in their order. */
function documentsInMemory() {
  const stored = new Map<string, Counter>();
  const requests: string[] = [];
  const documents = {
    keyedMutex: new KeyedMutex(),
    isMostlyUpdated: false,
    async getMany(wanted: readonly { id: string }[]) {
      requests.push(`read ${wanted.length}`);
      const found = wanted.flatMap(({ id }) => {
        const source = stored.get(id);
        return source ? [[id, { id, source }] as const] : [];
      });
      return new Map(found);
    },
    async writeMany(changes: readonly DocumentWrite[]) {
      requests.push(`write ${changes.length}`);
      const conflicts = new Set<string>();
      for (const { id, before, json } of changes) {
        if (!before && stored.has(id)) conflicts.add(id);
        else stored.set(id, JSON.parse(json()));
      }
      return conflicts;
    },
  };
  return { documents: documents as unknown as Documents<Counter>, stored, requests };
}

describe('Records applied to documents', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`);

  it('are written without a read while most are new', async () => {
    const { documents, requests } = documentsInMemory();
    await applyRecords(documents, ids(2), COUNTING);
    await applyRecords(documents, ids(4), COUNTING);
    expect(requests).to.deep.equal(['write 2', 'write 4', 'read 2', 'write 2']);
  });

  it('are read first once most of a batch existed, until most are new again', async () => {
    const { documents, stored, requests } = documentsInMemory();
    await applyRecords(documents, ids(4), COUNTING);
    await applyRecords(documents, ids(4), COUNTING);
    requests.length = 0;
    await applyRecords(documents, ids(4), COUNTING);
    expect(requests).to.deep.equal(['read 4', 'write 4']);
    expect(stored.get('c3')).to.deep.equal({ count: 3 });
    await applyRecords(documents, ['new_1', 'new_2'], COUNTING);
    requests.length = 0;
    await applyRecords(documents, ['new_3', 'new_4'], COUNTING);
    expect(requests).to.deep.equal(['write 2']);
  });
});
