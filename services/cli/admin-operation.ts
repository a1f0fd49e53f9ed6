import type { TSchema } from 'typebox';
import type { Endpoint } from '../http/endpoint.js';
import { Problem } from '../http/problems.js';
import { parseRequest } from '../http/request.js';
import { type Clock, systemClock } from '../shared/time.js';
import type { RecordStore } from '../stores/common/record-store.js';
import { withAdminStore } from './admin-stores.js';
import { CommandError, UsageError } from './errors.js';
import type { Io } from './io.js';

interface AdminServices {
  records: RecordStore;
  clock: Clock;
}

/**
 * Runs an operation on the store, with its checks and rules but without a key. Throws `UsageError` for a request that breaks a rule, and
 * `CommandError` for any other problem.
 */
export async function runAdminOperation<
  Request extends TSchema,
  Query extends TSchema,
  Response extends TSchema,
>(
  io: Io,
  endpoint: Endpoint<Request, Query, Response, AdminServices>,
  organizationId: string,
  fields: Record<string, unknown>,
) {
  try {
    const request = parseRequest(
      endpoint,
      { body: { organization_id: organizationId, ...fields } },
      organizationId,
    );
    return await withAdminStore(io, (records) =>
      endpoint.handle({
        ...(request as Parameters<typeof endpoint.handle>[0]),
        params: {},
        organizationId,
        keyId: '',
        services: { records, clock: systemClock },
        signal: new AbortController().signal,
        beginsToWrite: () => undefined,
        responseHeaders: {},
      }),
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [broken] = error.extras.errors ?? [];
    throw broken ? new UsageError(broken.detail) : new CommandError(error.message);
  }
}
