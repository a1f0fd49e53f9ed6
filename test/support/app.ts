import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AddContactRequest, AddContactResponse } from '../../services/contacts/schema.js';
import type { ApiEndpoint, ApiServices } from '../../services/gateway/api.js';
import { createApp } from '../../services/gateway/app.js';
import { createMetrics } from '../../services/gateway/metrics.js';
import { createRateLimiter } from '../../services/gateway/rate-limit.js';
import { endpointsWith } from '../../services/http/endpoint.js';
import { createLogger } from '../../services/shared/logger.js';
import { systemClock } from '../../services/shared/time.js';
import { readVersion } from '../../services/shared/version.js';
import type { Stores } from '../../services/stores/open-stores.js';

type Work = (request: { signal: AbortSignal }) => Promise<never>;

/** Body that an operation of `serveOperations` accepts. */
export const OPERATION_BODY = '{"audience_id":"a","contact_id":"b"}';

/** An app of operations that never succeed, by path. */
export async function serveOperations(
  stores: Stores,
  operations: Record<`/api/${string}`, Work | { work: Work; slots: number }>,
  { requestTimeoutMs = 60_000, logger = createLogger('silent') } = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const declared = Object.entries(operations).map(([path, operation]) => {
    const { work, slots } = typeof operation === 'function' ? { work: operation, slots: 1 } : operation;
    return endpointsWith<ApiServices>()({
      path: path as `/api/${string}`,
      name: 'Test',
      summary: 'Fails',
      tag: 'Contacts',
      scope: ['contacts:read'],
      request: AddContactRequest,
      response: AddContactResponse,
      example: { audience_id: 'a', contact_id: 'b' },
      slots: () => slots,
      handle: work,
    }) as unknown as ApiEndpoint;
  });
  const app = createApp(
    {
      stores,
      logger,
      metrics: createMetrics(),
      clock: systemClock,
      version: readVersion(),
      rateLimiter: createRateLimiter(0),
      corsOrigins: [],
      requestTimeoutMs,
      provisionalDays: 7,
      stopping: () => false,
    },
    declared,
  );
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
