import { normalizeCountry } from '../search/countries.js';
import { normalizeUrlText, normalizeWordStarts } from '../search/normalize.js';
import { addressKey } from '../shared/ip-address.js';
import { foldValue, orNull } from '../shared/text.js';
import { formatTimestamp } from '../shared/time.js';
import type { Visit, VisitRecord } from './schema.js';

/** The visit a stream record makes. */
export function toVisit(record: VisitRecord, createdMs: number): Visit {
  return {
    id: record.id,
    type: orNull(record.type) ?? 'audience',
    audienceId: record.audienceId ?? null,
    organizationId: record.organizationId,
    startUrl: orNull(record.startUrl),
    country: orNull(record.country),
    countryCode: orNull(record.countryCode),
    city: orNull(record.city),
    ipAddress: orNull(record.ipAddress),
    browser: orNull(record.browser),
    browserVersion: orNull(record.browserVersion),
    platform: orNull(record.platform),
    hasRecording: record.hasRecording ?? null,
    intentScore: record.intentScore ?? null,
    createdAt: formatTimestamp(createdMs),
  };
}

/** What of a visit can be found, in normal form. Both search stores index exactly this (contract 4.1). */
export interface SearchableVisit {
  /** The country and, where it names another, the country code. */
  countries: string[];
  city: string | null;
  browser: string | null;
  platform: string | null;
  /** See `addressKey`. */
  address: string | null;
  startUrl: string | null;
}

export function searchableVisit(visit: Visit): SearchableVisit {
  const countries = [visit.country, visit.countryCode]
    .filter((country) => country !== null)
    .map(normalizeCountry);
  return {
    countries: [...new Set(countries)],
    city: normal(visit.city, foldValue),
    browser: normal(visit.browser, normalizeWordStarts),
    platform: normal(visit.platform, normalizeWordStarts),
    address: normal(visit.ipAddress, addressKey),
    startUrl: normal(visit.startUrl, normalizeUrlText),
  };
}

function normal<T>(value: string | null, form: (value: string) => T): T | null {
  return value === null ? null : form(value);
}
