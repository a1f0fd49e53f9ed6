import { didYouMean } from '../../services/shared/did-you-mean.js';
import { audiences } from './audiences.js';
import { contacts } from './contacts.js';
import { currencyRates } from './currency-rates.js';
import { networkACampaigns } from './network-a-campaigns.js';
import { networkACompanies } from './network-a-companies.js';
import { networkACreatives } from './network-a-creatives.js';
import { networkADeliveries } from './network-a-deliveries.js';
import type { Stream } from './stream.js';
import { websiteVisits } from './website-visits.js';

/** Every stream, by name. */
export const STREAMS = {
  contacts,
  audiences,
  'website-visits': websiteVisits,
  'network-a-campaigns': networkACampaigns,
  'network-a-creatives': networkACreatives,
  'network-a-companies': networkACompanies,
  'network-a-deliveries': networkADeliveries,
  'currency-rates': currencyRates,
} as const;
export type StreamName = keyof typeof STREAMS;

export const STREAM_NAMES = Object.keys(STREAMS) as StreamName[];

/** The stream with this name; undefined if no stream has the name. */
export function findStream(name: string): Stream | undefined {
  return Object.hasOwn(STREAMS, name) ? STREAMS[name as StreamName] : undefined;
}

/** The message for a name that `findStream` does not find. */
export function unknownStream(name: string): string {
  const hint = didYouMean(name, STREAM_NAMES) || `The streams are ${STREAM_NAMES.join(', ')}.`;
  return `There is no stream ${JSON.stringify(name.slice(0, 64))}. ${hint}`;
}
