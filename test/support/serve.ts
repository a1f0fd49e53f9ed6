/** Serves one data folder until it is told to stop: a process of its own, to be killed. */
import closeWithGrace from 'close-with-grace';
import { createLogger } from '../../services/gateway/request-log.js';
import { startGateway } from '../../services/gateway/server.js';
import { loadConfig } from '../../services/shared/config.js';
import { openStores } from '../../services/stores/open-stores.js';

try {
  const config = loadConfig(process.env);
  const stores = await openStores(config);
  const gateway = await startGateway(config, stores, createLogger(config.logLevel));
  closeWithGrace({ delay: 10_000, logger: false }, async () => {
    await gateway.stop();
    await stores.close();
  });
  process.stdout.write(`Reachline listens on ${gateway.url}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
