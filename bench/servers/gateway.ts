/** The gateway with its stores and keys; only the handler of the search is replaced by a fixed response. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { issueKey } from '../../services/accounts/keys.js';
import { SearchContactsRequest, SearchContactsResponse } from '../../services/contacts/schema.js';
import { type ApiEndpoint, type ApiServices, endpoints } from '../../services/gateway/api.js';
import { createApp } from '../../services/gateway/app.js';
import { createMetrics } from '../../services/gateway/metrics.js';
import { createRateLimiter } from '../../services/gateway/rate-limit.js';
import { endpointsWith } from '../../services/http/endpoint.js';
import { createLogger, logFile } from '../../services/shared/logger.js';
import { systemClock } from '../../services/shared/time.js';
import { readVersion } from '../../services/shared/version.js';
import { openStores } from '../../services/stores/open-stores.js';
import { answer } from './fixed-answer.js';

const dataDir = process.argv[2] as string;
const stores = await openStores({ dataDir, searchThreads: 1 });
const key = await issueKey(stores.search, { organizationId: 'org_bench' });
const fixed = endpointsWith<ApiServices>()({
  path: '/api/contacts/search',
  name: 'Test',
  summary: 'A fixed answer',
  tag: 'Contacts',
  scope: 'contacts:read',
  request: SearchContactsRequest,
  response: SearchContactsResponse,
  example: { organization_id: 'org_bench' },
  handle: () => Promise.resolve(answer),
});
const app = createApp(
  {
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
  },
  endpoints.map((declared) => (declared.path === fixed.path ? (fixed as unknown as ApiEndpoint) : declared)),
);
const server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key });
});
