/** How reliable a response is: what the stores hold, how fresh it is, and from which day on it may change. */
import type { ApiEndpoint } from '../gateway/api.js';
import { cached } from '../shared/cache.js';
import type { StatusResponse } from '../status/schema.js';

const CACHE_TTL_MS = 30_000;

type StreamName = keyof StatusResponse['streams'];

/** Streams that a response may show, by the scopes that its operation needs. */
const STREAMS_BY_SCOPE: Readonly<Record<string, readonly StreamName[]>> = {
  'contacts:read': ['contacts'],
  'audiences:read': ['audiences'],
  'visits:read': ['website-visits'],
  'advertising:read': [
    'network-a-deliveries',
    'network-a-campaigns',
    'network-a-creatives',
    'network-a-companies',
    'currency-rates',
  ],
};

export interface Trust {
  /** Warnings of the response itself, such as `data_provisional: …`. */
  warnings: readonly string[];
  /** When the newest record of these streams was accepted; null if there is none, or the status could not be read. */
  last_accepted_at: string | null;
  /** Advertising: the newest day with figures, and the first day whose figures may change. */
  last_date?: string | null;
  provisional_from?: string | null;
}

/** Describes the reliability of responses. The status is read again after 30 s. */
export function trustReader(
  readStatus: () => Promise<StatusResponse>,
): (endpoint: Pick<ApiEndpoint, 'scope'>, answer: object) => Promise<Trust> {
  const status = cached(CACHE_TTL_MS, readStatus);
  return async ({ scope }, answer) => {
    const current = await status().catch(() => null);
    const names = scope.flatMap((each) => STREAMS_BY_SCOPE[each] ?? []);
    const { warnings = [] } = answer as { warnings?: string[] };
    const times = names.map((name) => current?.streams[name].last_accepted_at ?? null);
    const accepted = times.filter((time) => time !== null).sort();
    const { last_date, provisional_from } = current?.streams['network-a-deliveries'] ?? {};
    return {
      warnings,
      last_accepted_at: accepted.at(-1) ?? null,
      ...(scope.includes('advertising:read') && { last_date, provisional_from }),
    };
  };
}
