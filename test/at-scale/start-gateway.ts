import type { ClickHouseConfig, ElasticsearchConfig } from '../../services/shared/config.js';
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
  return gateway;
};

/** What a process on these servers is told. */
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
