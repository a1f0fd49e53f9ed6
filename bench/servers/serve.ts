/** The gateway over a data folder; reports the delay of its event loop, its peak memory and its CPU time, engine included. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { issueKey } from '../../services/accounts/keys.js';
import { startGateway } from '../../services/gateway/server.js';
import { loadConfig } from '../../services/shared/config.js';
import { createLogger, logFile } from '../../services/shared/logger.js';
import { openStores } from '../../services/stores/open-stores.js';

/** Between samples; an undelayed sample has this much. */
const RESOLUTION_MS = 1;

const dataDir = process.argv[2] as string;
const { ELASTICSEARCH_URL, CLICKHOUSE_URL, CLICKHOUSE_DATABASE } = process.env;
const config = loadConfig({
  PORT: '0',
  REACHLINE_DATA_DIR: dataDir,
  REACHLINE_RATE_LIMIT: '0',
  ELASTICSEARCH_URL,
  CLICKHOUSE_URL,
  CLICKHOUSE_DATABASE,
});
const stores = await openStores(config);
const logger = createLogger('info', logFile('/dev/null'));
const gateway = await startGateway(config, stores, logger);
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

process.on('message', async (message: 'reset' | 'read' | { keyFor: string }) => {
  if (message === 'reset') {
    delay.reset();
    delay.enable();
    process.send?.({ reset: true });
  } else if (message === 'read') {
    process.send?.({
      delayP99: delay.percentile(99) / 1e6 - RESOLUTION_MS,
      delayMax: delay.max / 1e6 - RESOLUTION_MS,
      peakMemory: process.resourceUsage().maxRSS * 1024,
      cpuMs: cpuMs(),
    });
  } else {
    process.send?.({
      key: await issueKey(stores.records, { organizationId: message.keyFor, scopes: ['*'] }),
    });
  }
});
process.once('disconnect', () => process.exit(1));
process.send?.({ url: gateway.url });
