/** Joins exposures with what came after them. The functions have no side effects. */
import { daysBetween } from '../advertising/calendar.js';
import { caseFold, dropAccents } from '../advertising/normalization.js';
import { sortByKey } from '../companies/order.js';
import type { DomainDay, DomainRecords, TimeSpan } from '../search/domain-activity.js';
import { DAY_MS, utcDate } from '../shared/time.js';
import type { ExposureRow } from './exposure-queries.js';
import type { InfluenceSort } from './schema.js';

/** An exposed domain, with its outcomes. */
export interface Influence extends ExposureRow {
  contacts: number;
  visits: number;
  knownBefore: boolean;
  /** The earliest outcome, in milliseconds since the epoch. */
  first: { kind: 'contact' | 'visit'; at: number } | null;
}

export interface OutcomeDays {
  lookback: number;
  outcome: number;
}

/** The days after the day of exposure on which outcomes count. */
export function outcomeSpan(
  { exposed_on }: Pick<ExposureRow, 'exposed_on'>,
  { outcome }: Pick<OutcomeDays, 'outcome'>,
): TimeSpan {
  const from = Date.parse(exposed_on) + DAY_MS;
  return { from, before: from + outcome * DAY_MS };
}

function byDomain(days: readonly DomainDay[]): Map<string, DomainDay[]> {
  const map = new Map<string, DomainDay[]>();
  for (const each of days) {
    const known = map.get(each.domain);
    if (known) known.push(each);
    else map.set(each.domain, [each]);
  }
  return map;
}

/**
 * Counts outcomes of `kinds` after each exposure. Whatever `kinds` are, a domain was known before if it had a contact on any day up to the day of exposure, or a visit in the
 * lookback days up to that day.
 */
export function joinOutcomes(
  exposures: readonly ExposureRow[],
  activity: { contacts: readonly DomainDay[]; visits: readonly DomainDay[] },
  days: OutcomeDays,
  kinds: readonly DomainRecords[],
): Influence[] {
  const contactDays = byDomain(activity.contacts);
  const visitDays = byDomain(activity.visits);
  return exposures.map((exposure) => {
    const { from, before } = outcomeSpan(exposure, days);
    const contacts = contactDays.get(exposure.domain) ?? [];
    const visits = visitDays.get(exposure.domain) ?? [];
    const after = (kind: DomainRecords, all: readonly DomainDay[]) =>
      kinds.includes(kind) ? all.filter(({ day }) => day >= from && day < before) : [];
    const outcomes = { contacts: after('contacts', contacts), visits: after('visits', visits) };
    const counted = (all: readonly DomainDay[]) => all.reduce((sum, { count }) => sum + count, 0);
    const firsts = [
      ...outcomes.contacts.map(({ first }) => ({ kind: 'contact' as const, at: first })),
      ...outcomes.visits.map(({ first }) => ({ kind: 'visit' as const, at: first })),
    ];
    return {
      ...exposure,
      contacts: counted(outcomes.contacts),
      visits: counted(outcomes.visits),
      knownBefore:
        contacts.some(({ day }) => day < from) ||
        visits.some(({ day }) => day < from && day >= from - days.lookback * DAY_MS),
      // Of equal times the contact comes first.
      first: firsts.reduce<Influence['first']>(
        (least, each) => (least && least.at <= each.at ? least : each),
        null,
      ),
    };
  });
}

/** More milliseconds than lie between any two records. */
const AFTER_ALL_TIMES = 1e15;

const SORT_KEYS: Record<InfluenceSort, (item: Influence) => number | string | null> = {
  exposed_on: ({ exposed_on }) => exposed_on,
  first_outcome: ({ first }) => first?.at ?? null,
  newly_influenced: ({ first, knownBefore }) => first && first.at + (knownBefore ? 0 : AFTER_ALL_TIMES),
  contacts: ({ contacts }) => contacts,
  visits: ({ visits }) => visits,
  impressions: ({ impressions }) => impressions,
  name: ({ name }) => name && dropAccents(caseFold(name)),
};

export function sortInfluences(
  items: readonly Influence[],
  by: InfluenceSort,
  descending: boolean,
): Influence[] {
  return sortByKey(items, SORT_KEYS[by], descending);
}

export const isInfluenced = ({ first }: Influence) => first !== null;
export const isNewlyInfluenced = (item: Influence) => isInfluenced(item) && !item.knownBefore;

/** Monday of the week of a time. */
const mondayOf = (time: number): number => {
  const day = Math.floor(time / DAY_MS);
  // The epoch began on a Thursday.
  return (day - ((((day + 3) % 7) + 7) % 7)) * DAY_MS;
};

/** Influenced domains by the week of their first outcome, for every week of a span. */
export function weeksOf(items: readonly Influence[], { from, before }: TimeSpan) {
  const firstWeek = mondayOf(from);
  const weeks = Array.from({ length: Math.ceil((before - firstWeek) / (7 * DAY_MS)) }, (_, index) => ({
    week: utcDate(firstWeek + index * 7 * DAY_MS),
    influenced: 0,
    newly_influenced: 0,
  }));
  for (const item of items) {
    const week = item.first && weeks[(daysBetween(utcDate(firstWeek), utcDate(item.first.at)) / 7) | 0];
    if (!week) continue;
    week.influenced++;
    if (!item.knownBefore) week.newly_influenced++;
  }
  return weeks;
}
