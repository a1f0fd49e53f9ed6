/** What `doctor` looks at on the servers that the settings name; nothing there is changed. */
import type { Config } from '../shared/config.js';
import { inspectClickHouse } from '../stores/clickhouse/inspect.js';
import { inspectElasticsearch } from '../stores/elasticsearch/inspect.js';
import { StoreTimeout, StoreUnavailable } from '../stores/store-error.js';
import { explain, noAnswer } from './errors.js';

/** What a check found; a problem says what to do. */
export type Finding = { good: string } | { problem: string };

const ELASTICSEARCH_MAJOR = 9;
const MIGRATE = 'Run: reachline migrate';

export async function checkServers({ elasticsearch, clickhouse }: Config): Promise<Finding[]> {
  const [search, analytics] = await Promise.all([
    elasticsearch ? found(() => checkElasticsearch(elasticsearch)) : [],
    clickhouse ? found(() => checkClickHouse(clickhouse)) : [],
  ]);
  return [...search, ...analytics];
}

async function checkElasticsearch(config: NonNullable<Config['elasticsearch']>): Promise<Finding[]> {
  const { versions, health, missing, outdated } = await inspectElasticsearch(config);
  const count = versions.length === 1 ? 'one node' : `${versions.length} nodes`;
  const version = [...new Set(versions)].sort().join(', ');
  const findings: Finding[] = [{ good: `Elasticsearch ${version} answers, ${count}, health ${health}` }];
  if (versions.some((each) => Number.parseInt(each, 10) < ELASTICSEARCH_MAJOR)) {
    findings.push({
      problem: `Elasticsearch ${version} is too old: upgrade it to ${ELASTICSEARCH_MAJOR} or newer`,
    });
  }
  if (health === 'red') {
    findings.push({
      problem: 'Elasticsearch lacks shards (health red): see GET /_cluster/allocation/explain',
    });
  }
  if (outdated.length > 0) {
    findings.push({ problem: `Of an older version: ${outdated.join(', ')}. ${MIGRATE}` });
  }
  if (missing.length > 0) {
    findings.push({ good: `serve makes the indices that are missing: ${missing.join(', ')}` });
  } else if (outdated.length === 0) {
    findings.push({ good: `The indices ${config.indexPrefix}-* are up to date` });
  }
  return findings;
}

async function checkClickHouse(config: NonNullable<Config['clickhouse']>): Promise<Finding[]> {
  const { version, missing } = await inspectClickHouse(config);
  return [
    { good: `ClickHouse ${version} answers` },
    missing.length === 0
      ? { good: `The tables in ${config.database} are up to date` }
      : { good: `serve brings the tables up to date: ${missing.length} migrations from ${missing[0]} on` },
  ];
}

async function found(check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof StoreTimeout) {
      return [{ problem: cannotAnswer(error) }];
    }
    return [{ problem: explain(error).message }];
  }
}

export const cannotAnswer = (error: StoreUnavailable | StoreTimeout): string =>
  `${noAnswer(error, error.store)}: check that it runs, and its address, user name and password in the settings`;
