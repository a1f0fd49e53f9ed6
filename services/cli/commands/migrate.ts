import { createTopics } from '../../../ingest/worker/topics.js';
import { loadConfig } from '../../shared/config.js';
import { grantAccess } from '../../stores/clickhouse/access.js';
import { REBUILDABLE, type Resource } from '../../stores/elasticsearch/indices.js';
import { migrateElasticsearch } from '../../stores/elasticsearch/migrate.js';
import { openStores } from '../../stores/open-stores.js';
import { UsageError } from '../errors.js';
import { type Io, say, tell } from '../io.js';
import { withKafka } from '../kafka.js';
import { ProgressReport } from '../progress-report.js';

export interface MigrateOptions {
  /** Names separated by commas. */
  rebuild?: string;
}

/** Creates and upgrades everything in all stores. Opening an embedded store brings it up to date. */
export async function migrate(io: Io, options: MigrateOptions): Promise<void> {
  const config = loadConfig(io.env);
  const rebuilt = options.rebuild === undefined ? [] : parseResources(options.rebuild);
  if (config.elasticsearch) {
    const report = new ProgressReport(io, 'documents');
    const made = await migrateElasticsearch(config.elasticsearch, {
      rebuilt,
      onProgress: (index, copied, total) => report.progress(index, copied, total),
    }).finally(() => report.end());
    for (const index of made) tell(io, `${index} serves now.`);
  } else if (rebuilt.length > 0) {
    throw new UsageError('--rebuild is for indices of Elasticsearch; ELASTICSEARCH_URL is not set.');
  }
  const stores = await openStores(config);
  await stores.close();
  if (config.clickhouse && !(await grantAccess(config.clickhouse))) {
    tell(
      io,
      `ClickHouse does not let ${config.clickhouse.username} make roles, so that of analysts was left out: see docs/analysts.md.`,
    );
  }
  if (config.kafka) {
    const made = await withKafka(io, createTopics);
    for (const topic of made) tell(io, `The topic ${topic} is there now.`);
  }
  say(io, 'The stores are up to date.');
}

function parseResources(text: string): Resource[] {
  return text.split(',').map((given) => {
    const name = REBUILDABLE.find((resource) => resource === given.trim());
    if (!name) throw new UsageError(`--rebuild takes some of ${REBUILDABLE.join(', ')}, not ${given}.`);
    return name;
  });
}
