/** How reliable a response is: what the stores hold, how fresh it is, and from which day on it may change. */
import type { ApiEndpoint } from '../gateway/api.js';
import { cached } from '../shared/cache.js';
import type { StatusResponse } from '../status/schema.js';

const CACHE_TTL_MS = 30_000;

type StreamName = keyof StatusResponse['streams'];

const STREAMS_BY_TAG: Partial<Record<ApiEndpoint['tag'], readonly StreamName[]>> = {
  Contacts: ['contacts'],
  Audiences: ['audiences', 'contacts'],
  'Website visits': ['website-visits'],
  Advertising: [
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
  /** Status of the streams that the response uses; null if the status could not be read. */
  streams: Partial<StatusResponse['streams']> | null;
  checked_at: string | null;
}

/** Describes the reliability of responses. The status is read again after 30 s. */
export function trustReader(
  readStatus: () => Promise<StatusResponse>,
): (tag: ApiEndpoint['tag'], answer: object) => Promise<Trust> {
  const status = cached(CACHE_TTL_MS, readStatus);
  return async (tag, answer) => {
    const current = await status().catch(() => null);
    const names = STREAMS_BY_TAG[tag] ?? [];
    const { warnings = [] } = answer as { warnings?: string[] };
    return {
      warnings,
      streams: current && Object.fromEntries(names.map((name) => [name, current.streams[name]])),
      checked_at: current?.checked_at ?? null,
    };
  };
}
