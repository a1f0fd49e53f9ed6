import type { ClickHouseConfig, ElasticsearchConfig } from '../../services/shared/config.js';
import { type StartGateway, startTestGateway, type TestGateway } from '../support/gateway.js';
import { testDatabase } from './clickhouse/support.js';
import { type TestIndices, testIndices } from './elasticsearch/support.js';

/** A gateway on the servers of the environment, with its own indices and database. */
export const startAtScaleGateway: StartGateway = (settings, clock) =>
  startGatewayOn(testIndices(), settings, clock);

export async function startGatewayOn(
  indices: TestIndices,
  ...[settings, clock]: Parameters<StartGateway>
): Promise<TestGateway> {
  const database = testDatabase();
  const stores = { elasticsearch: indices.config, clickhouse: database.config };
  const gateway = await startTestGateway({ ...settings, ...stores }, clock);
  await indices.refreshAtOnce();
  return gateway;
}

/** Environment of a process on these servers. */
export const serverEnvironment = (
  { nodes, indexPrefix }: ElasticsearchConfig,
  clickhouse: ClickHouseConfig,
): Record<string, string> => ({
  ELASTICSEARCH_URL: nodes.join(','),
  ELASTICSEARCH_INDEX_PREFIX: indexPrefix,
  CLICKHOUSE_URL: clickhouse.urls.join(','),
  CLICKHOUSE_USERNAME: clickhouse.username,
  CLICKHOUSE_PASSWORD: clickhouse.password,
  CLICKHOUSE_DATABASE: clickhouse.database,
});
