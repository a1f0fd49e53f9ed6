/** The gateway with its stores and keys; only the page that the store finds is a fixed one. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { issueKey } from '../../services/accounts/keys.js';
import { createApp } from '../../services/gateway/app.js';
import { createMetrics } from '../../services/gateway/metrics.js';
import { createRateLimiter } from '../../services/gateway/rate-limit.js';
import { createLogger, logFile } from '../../services/shared/logger.js';
import { systemClock } from '../../services/shared/time.js';
import { readVersion } from '../../services/shared/version.js';
import { openStores } from '../../services/stores/open-stores.js';
import { answer } from './fixed-answer.js';

const dataDir = process.argv[2] as string;
const stores = await openStores({ dataDir, searchThreads: 1 });
const key = await issueKey(stores.search, { organizationId: 'org_bench' });
const items = answer.contacts.map((contact) => JSON.stringify(contact));
stores.search.searchContacts = async () => ({ items, total: items.length, next: null });
const app = createApp({
  stores,
  logger: createLogger('info', logFile('/dev/null')),
  metrics: createMetrics(),
  clock: systemClock,
  version: readVersion(),
  rateLimiter: createRateLimiter(1_000_000_000),
  corsOrigins: [],
  requestTimeoutMs: 30_000,
  provisionalDays: 7,
  stopping: () => false,
});
const server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key });
});
