/** What a gateway process has in common with the others that share its port. */
import { cached } from '../../shared/cache.js';
import { type Metrics, RENDER_CACHE_MS } from '../metrics.js';
import type { RateLimiter } from '../rate-limit.js';
import type { FromGateway, ToGateway } from './messages.js';

export interface Peers {
  /** The limiter, which also counts what the others admit, a moment later. */
  shareRateLimit(limiter: RateLimiter): RateLimiter;
  /** The metrics, rendered together with those of the others. */
  shareMetrics(metrics: Metrics): Metrics;
  listening(url: string): void;
  /** Lets this process end although it listens for messages. */
  leave(): void;
}

const SPENT_INTERVAL_MS = 50;

/** For a process that `startProcesses` started. */
export function connectPeers(): Peers {
  const send = (message: FromGateway) => void (process.connected && process.send?.(message));
  const receive = (handle: (message: ToGateway) => void) => void process.on('message', handle);

  return {
    shareRateLimit(limiter) {
      const spent = new Map<string, number>();
      const tell = () => {
        send({ type: 'spent', spent: [...spent] });
        spent.clear();
      };
      receive((message) => {
        if (message.type !== 'spent') return;
        for (const [keyId, requests] of message.spent) limiter.charge(keyId, requests);
      });
      return {
        ...limiter,
        take(keyId) {
          const headers = limiter.take(keyId);
          if (headers) {
            if (spent.size === 0) setTimeout(tell, SPENT_INTERVAL_MS).unref();
            spent.set(keyId, (spent.get(keyId) ?? 0) + 1);
          }
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
        } else if (message.type === 'count') {
          send({ type: 'counts', id: message.id, counts: await metrics.registry.getMetricsAsJSON() });
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
    leave: () => process.channel?.unref(),
  };
}
