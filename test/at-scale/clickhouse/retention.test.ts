import { openAnalyticsStore } from '../../../services/stores/clickhouse/store.js';
import { visitRetention } from '../../contract/visit-retention.js';
import { testDatabase } from './support.js';

describe('Visits that SQL reads on a ClickHouse server', () => {
  visitRetention(async () => {
    const { store } = await openAnalyticsStore(testDatabase().config);
    return {
      insertVisits: (records) => store.insertVisits(records),
      countVisitsBefore: (createdMs) => store.countVisitsBefore(createdMs),
      deleteAllBefore: (createdMs) => store.deleteVisitsBefore(createdMs),
      async left(organizationId) {
        const { rows } = await store.query<{ moment: number }>({
          name: 'test',
          sql: `SELECT toUnixTimestamp64Milli(created_at) AS moment FROM website_visits FINAL
WHERE organization_id = {o:String} ORDER BY moment`,
          params: { o: organizationId },
        });
        return rows.map(({ moment }) => Number(moment));
      },
      close: () => store.close(),
    };
  });
});
