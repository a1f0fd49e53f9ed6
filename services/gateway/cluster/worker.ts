/** What a gateway worker shares with the other workers on its port, through the primary. */
import { cached } from '../../shared/cache.js';
import { type Metrics, RENDER_CACHE_MS } from '../metrics.js';
import type { RateLimiter } from '../rate-limit.js';
import type { FromPrimary, FromWorker } from './messages.js';

export interface ClusterWorker {
  /** A limiter that also counts what other workers admit, up to 50 ms later. */
  shareRateLimit(limiter: RateLimiter): RateLimiter;
  /** Metrics that render as the sum over all workers. */
  shareMetrics(metrics: Metrics): Metrics;
  /** Tells the primary that this worker listens. */
  listening(url: string): void;
  /** Unrefs the IPC channel, so that it does not keep the process alive. */
  unref(): void;
}

const SHARE_INTERVAL_MS = 50;

/** For a process forked by `startPrimary`. */
export function connectToPrimary(): ClusterWorker {
  const send = (message: FromWorker) => void (process.connected && process.send?.(message));
  const receive = (handle: (message: FromPrimary) => void) => void process.on('message', handle);

  return {
    shareRateLimit(limiter) {
      const admitted = new Map<string, number>();
      const flush = () => {
        send({ type: 'admitted', admitted: [...admitted] });
        admitted.clear();
      };
      receive((message) => {
        if (message.type !== 'admitted') return;
        for (const [keyId, requests] of message.admitted) limiter.charge(keyId, requests);
      });
      return {
        ...limiter,
        take(keyId) {
          const headers = limiter.take(keyId);
          if (admitted.size === 0) setTimeout(flush, SHARE_INTERVAL_MS).unref();
          admitted.set(keyId, (admitted.get(keyId) ?? 0) + 1);
          return headers;
        },
      };
    },

    shareMetrics(metrics) {
      const waiting = new Map<number, (text: string) => void>();
      let lastId = 0;
      receive(async (message) => {
        if (message.type === 'rendered') {
          waiting.get(message.id)?.(message.text);
          waiting.delete(message.id);
        } else if (message.type === 'collect') {
          send({ type: 'collected', id: message.id, values: await metrics.registry.getMetricsAsJSON() });
        }
      });
      return {
        ...metrics,
        render: cached(
          RENDER_CACHE_MS,
          () =>
            new Promise<string>((resolve) => {
              waiting.set(++lastId, resolve);
              send({ type: 'render', id: lastId });
            }),
        ),
      };
    },

    listening: (url) => send({ type: 'listening', url }),
    unref: () => process.channel?.unref(),
  };
}
