import { loadConfig } from '../../shared/config.js';
import { openStores } from '../../stores/open-stores.js';
import { UsageError } from '../errors.js';
import { formatCount, type Io, printOut } from '../io.js';
import { withProgress } from '../progress.js';

/** Copies contacts and audiences for SQL. */
export async function copy(io: Io): Promise<void> {
  const config = loadConfig(io.env);
  if (!config.elasticsearch || !config.clickhouse) {
    throw new UsageError('copy is for stores on servers; set ELASTICSEARCH_URL and CLICKHOUSE_URL.');
  }
  const stores = await openStores(config);
  try {
    const records = await withProgress(io, async (progress) =>
      stores.copier?.run(undefined, (done) => progress.update(`${formatCount(done)} records`, done)),
    );
    printOut(io, `${formatCount(records ?? 0)} contacts and audiences are copied.`);
  } finally {
    await stores.close();
  }
}
