import type { Static } from 'typebox';
import { cursorRequest, cursorResponse } from '../search/cursor.js';
import { FacetCount } from '../search/facet-schema.js';
import {
  arrayOf,
  boolean,
  dateTime,
  id,
  integer,
  looseObject,
  nullable,
  optional,
  organizationId,
  strictObject,
  stringEnum,
  Type,
  text,
} from '../shared/schema.js';

const url = (description: string) => text(description, { maxLength: 8192 });
const address = Type.String({
  description: 'IPv4 or IPv6 address of the visitor.',
  format: 'ip-address',
  maxLength: 64,
});

export const Visit = looseObject(
  {
    id: id('Identifier of the visit.'),
    type: text('Kind of visit; only `audience` occurs.'),
    audienceId: nullable(id('Audience the visitor belongs to.')),
    organizationId: id('Organization whose site was visited.'),
    startUrl: nullable(url('First page of the visit.')),
    country: nullable(text('Country of the visitor.')),
    countryCode: nullable(text('ISO 3166 code of that country.')),
    city: nullable(text('City of the visitor.')),
    ipAddress: nullable(text('Address of the visitor.')),
    browser: nullable(text('Browser name.')),
    browserVersion: nullable(text('Browser version.')),
    platform: nullable(text('Operating system.')),
    hasRecording: nullable(boolean('Whether a recording of the visit exists.')),
    intentScore: nullable(integer('Buying intent, higher is stronger.')),
    createdAt: dateTime('When the visit began, UTC.'),
    companyDomain: nullable(text('Domain of the company that visited, lower-case, without www.')),
  },
  {
    $id: 'Api_Website_visit',
    description: 'A visit to the site of an organization. Every key is always present.',
  },
);
export type Visit = Static<typeof Visit>;

/** A record of the `website-visits` stream. A visit is immutable: the first record with an id and moment stays. */
export const VisitRecord = strictObject({
  id: id('Identifier of the visit.'),
  organizationId,
  createdAt: dateTime('When the visit began.'),
  type: optional(text('Kind of visit; by default `audience`.')),
  audienceId: optional(id('Audience the visitor belongs to.')),
  startUrl: optional(url('First page of the visit.')),
  country: optional(text('Country of the visitor.')),
  countryCode: optional(text('ISO 3166 code of that country.')),
  city: optional(text('City of the visitor.')),
  ipAddress: optional(address),
  browser: optional(text('Browser name.')),
  browserVersion: optional(text('Browser version.')),
  platform: optional(text('Operating system.')),
  hasRecording: optional(boolean('Whether a recording of the visit exists.')),
  intentScore: optional(integer('Buying intent, higher is stronger.')),
  companyDomain: optional(text('Domain of the company that visited; other text is left out.')),
});
export type VisitRecord = Static<typeof VisitRecord>;

export const VISIT_FACETS = ['day', 'company_domain'] as const;
export type VisitFacet = (typeof VISIT_FACETS)[number];

export const SearchVisitsRequest = strictObject({
  organization_id: organizationId,
  audience_id: optional(id('Audience of the visitor.')),
  country: optional(text('Name or ISO 3166 code; matches `country` or `countryCode`.')),
  city: optional(text('Whole city name; case and accents do not matter.')),
  ip_address: optional(
    Type.String({
      description: 'An address in any spelling, or a CIDR block.',
      format: 'ip-range',
      examples: ['83.149.0.0/16'],
    }),
  ),
  company_domain: optional(
    text('Domain of the visiting company; scheme, a leading www., port, path and case are ignored.'),
  ),
  browser: optional(text('Browser name, or the beginning of a word of it.', { examples: ['chrome'] })),
  platform: optional(text('Operating system, or the beginning of a word of it.')),
  has_recording: optional(boolean('Only visits with, or without, a recording.')),
  start_url: optional(text('A part of the first page; case, a scheme and a trailing slash are ignored.')),
  created_after: optional(dateTime('Only visits at or after this moment.')),
  created_before: optional(dateTime('Only visits before this moment.')),
  min_intent_score: optional(integer('Only visits with at least this intent.')),
  facets: optional(
    arrayOf(
      'What is counted over all matches, whatever the page. Pages after the first need not repeat it.',
      stringEnum(
        '`day`: visits per day, UTC. `company_domain`: the 20 companies with most visits.',
        VISIT_FACETS,
      ),
      { minItems: 1, maxItems: 5, examples: [['day']] },
    ),
  ),
  ...cursorRequest('Visits'),
});
export type SearchVisitsRequest = Static<typeof SearchVisitsRequest>;

export const SearchVisitsResponse = looseObject({
  organization_id: id('Organization searched.'),
  visits: arrayOf('The visits of this page, newest first.', Visit),
  ...cursorResponse('visits'),
  facets: Type.Optional(
    looseObject(
      {
        day: Type.Optional(
          arrayOf(
            'Each day with visits, `YYYY-MM-DD` in UTC, ascending; if there are more than 1 000 days, the newest.',
            FacetCount,
          ),
        ),
        company_domain: Type.Optional(
          arrayOf('The 20 most frequent domains of visiting companies, most frequent first.', FacetCount),
        ),
      },
      { description: 'The requested facets; absent if none were requested.' },
    ),
  ),
});
