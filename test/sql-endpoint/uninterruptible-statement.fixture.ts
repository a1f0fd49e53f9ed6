/** `node uninterruptible-statement.fixture.js <data folder>`: opens both stores and a SQL endpoint that permits every statement; shuts down as `serve` does. */
import { writeSync } from 'node:fs';
import { runUntilSignal } from '../../services/cli/graceful-shutdown.js';
import { createLogger } from '../../services/shared/logger.js';
import { openStores } from '../../services/stores/open-stores.js';
import { startUnrestrictedEndpoint } from '../support/clickhouse-server.js';

const [dataDir = ''] = process.argv.slice(2);
const opened = await openStores({ dataDir, searchProcesses: 1 });
const engine = await opened.engine?.();
if (!engine) throw new Error('the store is not embedded');
const close = opened.records.close.bind(opened.records);
opened.records.close = async () => {
  await close();
  writeSync(1, 'records store closed\n');
};
const endpoint = await startUnrestrictedEndpoint(engine, dataDir);
const closeAll = async () => {
  await endpoint.close();
  await opened.close();
};
void runUntilSignal(closeAll, createLogger('silent'), { delay: 9500 });
process.stdout.write(`${endpoint.url}\n`);
