import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { checkHealth, type Pingable } from '../../services/shared/health.js';
import {
  jsonResponse,
  type OperationalServer,
  startOperationalServer,
} from '../../services/shared/operational-server.js';

interface WorkerHealth {
  registry: Registry;
  /** Stores and brokers on which the worker depends, by name. */
  checks: Record<string, Pingable>;
  /** Streams whose consumer waits for its restart. */
  failing(): readonly string[];
  stopping(): boolean;
  logger: Pick<Logger, 'error'>;
}

/** Serves `/livez`, `/readyz` and `/metrics` of a worker. Rejects with the listen error. */
export function startHealthServer(
  address: { host: string; port: number },
  { registry, checks, failing, stopping, logger }: WorkerHealth,
): Promise<OperationalServer> {
  const readiness = async () => {
    const states = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await checkHealth(check)] as const),
    );
    const failingStreams = failing();
    const ready = states.every(([, state]) => state === 'ok') && failingStreams.length === 0 && !stopping();
    return jsonResponse(ready ? 200 : 503, {
      ready,
      ...Object.fromEntries(states),
      failing_streams: failingStreams,
      stopping: stopping(),
    });
  };
  const routes = {
    '/livez': () => jsonResponse(200, { alive: true }),
    '/readyz': readiness,
    '/metrics': async () => ({
      status: 200,
      contentType: registry.contentType,
      body: await registry.metrics(),
    }),
  };
  return startOperationalServer(address, routes, logger);
}
