import { loadConfig } from '../../shared/config.js';
import { openStores } from '../../stores/open-stores.js';
import { UsageError } from '../errors.js';
import { formatCount, type Io, printOut } from '../io.js';
import { Progress } from '../progress.js';

/** Copies contacts and audiences for SQL. */
export async function copy(io: Io): Promise<void> {
  const config = loadConfig(io.env);
  if (!config.elasticsearch || !config.clickhouse) {
    throw new UsageError('copy is for servers; set ELASTICSEARCH_URL and CLICKHOUSE_URL.');
  }
  const stores = await openStores(config);
  const progress = await Progress.start(io);
  try {
    const records = await stores.copier?.run(undefined, (done) =>
      progress.update(`${formatCount(done)} records`, done),
    );
    progress.end();
    printOut(io, `${formatCount(records ?? 0)} contacts and audiences are copied.`);
  } finally {
    progress.end();
    await stores.close();
  }
}
