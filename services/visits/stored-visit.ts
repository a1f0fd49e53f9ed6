import { normalizeCountry } from '../search/countries.js';
import { normalizeDomain, normalizeUrlText, normalizeWordStarts } from '../search/normalize.js';
import { addressKey } from '../shared/ip-address.js';
import type { Json } from '../shared/json.js';
import { type OrderedRecord, recordOrder } from '../shared/record-order.js';
import { foldValue, orNull } from '../shared/text.js';
import { formatTimestamp } from '../shared/time.js';
import type { Visit, VisitRecord } from './schema.js';

const VISIT_ORDER_DIGITS = 23;

/** The visit of a stream record. */
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
    companyDomain: orNull(record.companyDomain),
  };
}

/** A visit as stores keep it, with the order of its record. */
export interface StoredVisit {
  visit: Json<Visit>;
  recordOrder: string;
}

/** The order of a visit's record: 13 digits of acceptance and 10 of sequence, comparable as text. */
export const visitOrder = ({
  acceptedAt,
  sequence,
}: Pick<OrderedRecord<unknown>, 'acceptedAt' | 'sequence'>) =>
  recordOrder(null, acceptedAt, sequence).slice(-VISIT_ORDER_DIGITS);

const ACCEPTED_DIGITS = 13;

export const parseVisitOrder = (order: string) => ({
  acceptedAt: Number(order.slice(0, ACCEPTED_DIGITS)),
  sequence: Number(order.slice(ACCEPTED_DIGITS)),
});

/** Selects which of two records of a visit stays, regardless of their order of arrival: the record accepted first (contract 6.2). */
export function winner<A extends StoredVisit, B extends StoredVisit>(left: A, right: B): A | B {
  const { recordOrder: one, visit } = left;
  const { recordOrder: other, visit: otherVisit } = right;
  if (one === other) return visit <= otherVisit ? left : right;
  return one < other ? left : right;
}

/** Searchable fields of a visit, in normal form. Both records stores index exactly these (contract 4.1). */
export interface SearchableVisit {
  /** The country and, if it names another country, the country code. */
  countries: string[];
  city: string | null;
  browser: string | null;
  platform: string | null;
  /** See `addressKey`. */
  address: string | null;
  startUrl: string | null;
  companyDomain: string | null;
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
    companyDomain: normal(visit.companyDomain, normalizeDomain),
  };
}

function normal<T>(value: string | null, form: (value: string) => T): T | null {
  return value === null ? null : form(value);
}
