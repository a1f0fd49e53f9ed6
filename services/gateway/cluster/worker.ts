/** Shares limits and caches with the other gateway workers on the port, through the primary. */
import type { Caller } from '../../http/admission.js';
import { cached } from '../../shared/cache.js';
import { type Metrics, RENDER_CACHE_MS } from '../metrics.js';
import type { RateLimiter } from '../rate-limit.js';
import type { FromPrimary, FromWorker } from './messages.js';

export interface ClusterWorker {
  /** A limiter that also counts what other workers take, up to 50 ms later. */
  shareRateLimit(limiter: RateLimiter): RateLimiter;
  /** Metrics that render as the sum over all workers. */
  shareMetrics(metrics: Metrics): Metrics;
  /** Tells the primary that this worker listens. */
  listening(url: string): void;
  /** Unrefs the IPC channel, so that it does not keep the process alive. */
  unref(): void;
}

const SHARE_INTERVAL_MS = 50;

/** Connects a process that `startPrimary` forked. */
export function connectToPrimary(): ClusterWorker {
  const send = (message: FromWorker) => void (process.connected && process.send?.(message));
  const receive = (handle: (message: FromPrimary) => void) => void process.on('message', handle);

  return {
    shareRateLimit(limiter) {
      const taken = new Map<string, [caller: Caller, tokens: number]>();
      const flush = () => {
        send({ type: 'taken', taken: [...taken.values()] });
        taken.clear();
      };
      const share = ({ keyId, organizationId }: Caller, tokens: number) => {
        if (taken.size === 0) setTimeout(flush, SHARE_INTERVAL_MS).unref();
        taken.set(keyId, [{ keyId, organizationId }, (taken.get(keyId)?.[1] ?? 0) + tokens]);
      };
      receive((message) => {
        if (message.type !== 'taken') return;
        for (const [caller, tokens] of message.taken) limiter.charge(caller, tokens);
      });
      return {
        take(caller) {
          const headers = limiter.take(caller);
          share(caller, 1);
          return headers;
        },
        charge(caller, tokens) {
          limiter.charge(caller, tokens);
          if (tokens > 0) share(caller, tokens);
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
