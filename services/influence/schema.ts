/** Schemas of the influence operation. */
import type { Static, TSchema } from 'typebox';
import { campaignIds, orderFields } from '../advertising/requests.js';
import { pageOf, provisional, warnings } from '../advertising/responses.js';
import { SUMS } from '../companies/queries.js';
import { count, identity } from '../companies/schema.js';
import { DOMAIN_RECORDS } from '../search/domain-activity.js';
import {
  arrayOf,
  boolean,
  date,
  dateTime,
  integer,
  looseObject,
  nullable,
  optional,
  organizationId,
  strictObject,
  stringEnum,
  Type,
} from '../shared/schema.js';
import type { ExposureMetric } from './exposure-queries.js';

/** Maximum days of a range, including the first and the last. */
export const MAX_RANGE_DAYS = 366;
export const DEFAULT_DAYS = 30;
export const DEFAULT_THRESHOLDS = { impressions: 7 };
export const INFLUENCE_SORTS = [
  'exposed_on',
  'first_outcome',
  'newly_influenced',
  'contacts',
  'visits',
  'impressions',
  'name',
] as const;
export type InfluenceSort = (typeof INFLUENCE_SORTS)[number];

const days = (description: string, maximum: number) =>
  optional(integer(description, { minimum: 1, maximum, default: DEFAULT_DAYS }));

const WHAT: Record<ExposureMetric, string> = {
  impressions: 'Impressions',
  clicks: 'Clicks',
  engagements: 'Engagements',
};
const perMetric = <T extends TSchema>(schemaOf: (what: string) => T) =>
  Object.fromEntries(SUMS.map((metric) => [metric, schemaOf(WHAT[metric])])) as Record<ExposureMetric, T>;

export const InfluenceRequest = strictObject({
  organization_id: Type.Optional(nullable(organizationId)),
  start_date: date('First day on which exposure may begin, UTC.', { examples: ['2026-10-01'] }),
  end_date: date(
    `Last day on which exposure may begin, UTC, not before start_date. A range has at most ${MAX_RANGE_DAYS} days, first and last included.`,
    { examples: ['2026-10-31'] },
  ),
  lookback_days: days('Days whose sums must reach a threshold, the day of exposure included.', 90),
  outcome_days: days('Days after the day of exposure in which contacts and visits count.', 180),
  thresholds: optional(
    strictObject(
      perMetric((what) => Type.Optional(integer(`${what} within the lookback days.`, { minimum: 1 }))),
      {
        description: 'A company is exposed once its sums reach one of these.',
        minProperties: 1,
        default: DEFAULT_THRESHOLDS,
      },
    ),
  ),
  campaign_ids: campaignIds,
  outcomes: optional(
    arrayOf(
      'What counts as an outcome.',
      stringEnum('`contacts`: a new contact; `visits`: a website visit.', DOMAIN_RECORDS),
      { minItems: 1, maxItems: 2, default: [...DOMAIN_RECORDS] },
    ),
  ),
  ...orderFields(
    INFLUENCE_SORTS,
    'exposed_on',
    'What the items are ordered by; then by domain, ascending. `newly_influenced` has the newly influenced companies first, then the other influenced ones, each with the newest first outcome first.',
  ),
});
export type InfluenceRequest = Static<typeof InfluenceRequest>;

const sums = perMetric((what) => count(`${what} within the lookback days up to the day of exposure.`));

export const InfluenceItem = looseObject(
  {
    ...identity,
    exposed_on: date('First day of the range on which the sums reach a threshold.'),
    reached_by: arrayOf('Metrics that reach their threshold on that day.', stringEnum('A metric.', SUMS)),
    exposure: looseObject(sums, { description: 'The sums on the day of exposure.' }),
    known_before: boolean(
      'Whether a contact existed on the day of exposure, or a visit happened in the lookback days up to it.',
    ),
    influenced: boolean('Whether an outcome came after the day of exposure, within the outcome days.'),
    contacts: count('Contacts created after the day of exposure, within the outcome days.'),
    visits: count('Visits after the day of exposure, within the outcome days.'),
    first_outcome: nullable(
      looseObject(
        {
          kind: stringEnum('Kind of the outcome.', ['contact', 'visit']),
          id: Type.String({ description: 'Id of the contact or visit.' }),
          at: dateTime('When the contact was created, or the visit began.'),
        },
        { description: 'The earliest outcome; null if there is none.' },
      ),
    ),
    evidence: looseObject(
      {
        contact_ids: arrayOf(
          'The oldest contacts that count, at most 10.',
          Type.String({ description: 'Id of a contact.' }),
        ),
        visit_ids: arrayOf(
          'The oldest visits that count, at most 10.',
          Type.String({ description: 'Id of a visit.' }),
        ),
        campaigns: arrayOf(
          'The campaigns with most impressions in the lookback days up to the day of exposure, at most 20.',
          looseObject(
            {
              campaign_id: Type.String({ description: 'Id of the campaign.' }),
              name: nullable(Type.String({ description: 'Name of the campaign.' })),
              ...sums,
            },
            { $id: 'InfluenceCampaign', description: 'A campaign, with its sums on the day of exposure.' },
          ),
        ),
      },
      { description: 'What the numbers are made of.' },
    ),
  },
  { $id: 'InfluenceItem', description: 'A company that was exposed to ads, and what came after.' },
);
export type InfluenceItem = Static<typeof InfluenceItem>;

const outcomeCounts = (what: string) =>
  looseObject(
    {
      after_exposure: count(`${what} that items count.`),
      all: count(`All ${what.toLowerCase()} from start_date until outcome_days after end_date.`),
    },
    { description: `${what} after exposure, and all of that time.` },
  );

export const InfluenceResponse = looseObject({
  start_date: date('First day on which exposure may begin.'),
  end_date: date('Last day on which exposure may begin.'),
  ...pageOf('exposed companies', InfluenceItem),
  totals: looseObject(
    {
      exposed: count('Domains that were exposed.'),
      influenced: count('Exposed domains with an outcome.'),
      newly_influenced: count('Exposed domains with an outcome that were not known before.'),
      outcomes: looseObject(
        { contacts: outcomeCounts('Contacts'), visits: outcomeCounts('Visits') },
        { description: 'Outcomes; a kind that was not requested has zeros.' },
      ),
      without_domain: looseObject(
        {
          companies: count('Exposed companies that have no domain.'),
          contacts: count('Contacts of `outcomes.contacts.all` that have no domain.'),
          visits: count('Visits of `outcomes.visits.all` that have no domain.'),
        },
        { description: 'What cannot be assigned to a domain.' },
      ),
      spend: arrayOf(
        'Money that the campaigns spent on the days of the range and the lookback days before it.',
        looseObject({
          currency: nullable(Type.String({ description: 'Currency; null where it is unknown.' })),
          ad_spend: Type.String({ description: 'Exact decimal text.', examples: ['1234.56'] }),
        }),
      ),
      weeks: arrayOf(
        'Influenced domains by the week of their first outcome: every week from start_date until outcome_days after end_date, ascending.',
        looseObject({
          week: date('Monday of the week.'),
          influenced: count('Domains with their first outcome in the week.'),
          newly_influenced: count('Those that were not known before.'),
        }),
      ),
    },
    { description: 'Figures of all exposed companies, not of the page alone.' },
  ),
  complete: boolean('Whether all outcome days of every company are over.'),
  provisional,
  warnings,
});
export type InfluenceResponse = Static<typeof InfluenceResponse>;
