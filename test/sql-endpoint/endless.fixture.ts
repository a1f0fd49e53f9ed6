/** `node endless.fixture.js <data folder>`: both stores behind a door that lets every statement in; closes as `serve` does. */
import { writeSync } from 'node:fs';
import { untilClosed } from '../../services/cli/graceful-shutdown.js';
import { closedWithDoor } from '../../services/cli/sql-endpoint.js';
import { createLogger } from '../../services/shared/logger.js';
import { openStores } from '../../services/stores/open-stores.js';
import { startOpenDoor } from '../support/clickhouse-server.js';

const [dataDir = ''] = process.argv.slice(2);
const opened = await openStores({ dataDir, searchThreads: 1 });
if (!opened.engine) throw new Error('the store is not embedded');
const close = opened.search.close.bind(opened.search);
opened.search.close = async () => {
  await close();
  writeSync(1, 'search store closed\n');
};
const door = await startOpenDoor(opened.engine, dataDir, { port: 0, password: '', concurrency: 2 });
const stores = closedWithDoor(opened, door);
void untilClosed(() => stores.close(), createLogger('silent'), { delay: 9500 });
process.stdout.write(`${door.url}\n`);
