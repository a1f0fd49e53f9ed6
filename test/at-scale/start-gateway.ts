import { type StartGateway, startTestGateway } from '../support/gateway.js';
import { testDatabase } from './clickhouse/support.js';
import { testIndices } from './elasticsearch/support.js';

/** A gateway on the servers of the environment, with indices and a database of its own. */
export const startAtScaleGateway: StartGateway = async (settings, clock) => {
  const indices = testIndices();
  const database = testDatabase();
  const stores = { elasticsearch: indices.config, clickhouse: database.config };
  const gateway = await startTestGateway({ ...settings, ...stores }, clock);
  await indices.refreshAtOnce();
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await indices.remove();
      await database.drop();
    },
  };
};

/** Registers tests that need the servers, or says why there are none. */
export function atScale(register: () => void): void {
  const missing = ['ELASTICSEARCH_URL', 'CLICKHOUSE_URL'].filter((name) => !process.env[name]);
  if (missing.length === 0) {
    register();
    return;
  }
  describe('A gateway at scale', () => {
    it.skip(`is not tested: without ${missing.join(' and ')} (npm run test:stack starts the servers)`);
  });
}
