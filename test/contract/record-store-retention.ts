import { type Open, walk } from './record-store-support.js';
import { visitRetention } from './visit-retention.js';

export function recordStoreRetention(open: Open): void {
  visitRetention(async () => {
    const { store, close } = await open();
    return {
      insertVisits: (records) => store.insertVisits(records),
      countVisitsBefore: (createdMs) => store.countVisitsBefore(createdMs),
      async deleteAllBefore(createdMs) {
        while ((await store.deleteVisitsBefore(createdMs, 3)) > 0);
      },
      async left(organizationId) {
        await store.refresh();
        const items = await walk((after) => store.searchVisits({ organizationId, limit: 100, after }));
        return items.map(({ createdAt }) => Date.parse(createdAt)).sort((one, other) => one - other);
      },
      close,
    };
  });
}
