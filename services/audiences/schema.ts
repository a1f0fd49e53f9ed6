import type { Static } from 'typebox';
import { MAX_QUERY_LENGTH } from '../search/query-parser.js';
import {
  arrayOf,
  boolean,
  dateTime,
  deleted,
  id,
  integer,
  looseObject,
  nullable,
  optional,
  organizationId,
  strictObject,
  TEXT_QUERY,
  Type,
  text,
  withDefault,
} from '../shared/schema.js';

const networks = {
  network_a: boolean('Whether the audience is used on network_a.', { default: false }),
  network_b: boolean('Whether the audience is used on network_b.', { default: false }),
  network_c: boolean('Whether the audience is used on network_c.', { default: false }),
};

export const Audience = looseObject(
  {
    id: id('Identifier of the audience.'),
    organization_id: id('Organization the audience belongs to.'),
    name: text('Name.'),
    description: nullable(text('Description.', { maxLength: 8192 })),
    ...networks,
    tracking_utm_value: nullable(text('UTM value that marks visits of this audience.')),
    created_at: dateTime('When the audience was first recorded, UTC.'),
    updated_at: dateTime(
      'When the audience last changed, UTC; `created_at` for one that has not changed since this is kept.',
    ),
    member_count: Type.Optional(
      integer('How many contacts are in it, exactly; only with `include_counts`.', { minimum: 0 }),
    ),
  },
  { $id: 'Api_Audience', description: 'A named group of contacts.' },
);
export type Audience = Static<typeof Audience>;

const editableFields = {
  description: optional(text('Description.', { maxLength: 8192 })),
  network_a: optional(boolean('Whether the audience is used on network_a.')),
  network_b: optional(boolean('Whether the audience is used on network_b.')),
  network_c: optional(boolean('Whether the audience is used on network_c.')),
  tracking_utm_value: optional(text('UTM value that marks visits of this audience.')),
};

/** A record of the `audiences` stream: each is whole and replaces the one before. */
export const AudienceRecord = strictObject({
  organization_id: organizationId,
  id: id('Identifier of the audience.'),
  name: text('Name.', { minLength: 1 }),
  ...editableFields,
  created_at: optional(dateTime('When the audience was made; the time of acceptance when absent.')),
  updated_at: optional(dateTime('Version of the record: an older one changes nothing.')),
  deleted,
});
export type AudienceRecord = Static<typeof AudienceRecord>;

const ifUpdatedAt = optional(
  dateTime('`updated_at` of the audience as it is known; 409 `changed_meanwhile` if it has changed since.'),
);

const includeCounts = optional(boolean('Whether each audience has its `member_count`.'));

export const GetAudienceRequest = strictObject({
  organization_id: organizationId,
  audience_id: id('Identifier of the audience.'),
  include_counts: includeCounts,
});

export const GetAudienceResponse = looseObject({
  organization_id: id('Organization of the audience.'),
  audience_id: id('Identifier of the audience.'),
  audience: Audience,
});

export const CreateAudienceRequest = strictObject({
  organization_id: organizationId,
  id: optional(id('Identifier of the audience; one is generated when absent.')),
  name: text('Name. Several audiences may have the same.', { minLength: 1 }),
  ...editableFields,
  network_a: optional(networks.network_a),
  network_b: optional(networks.network_b),
  network_c: optional(networks.network_c),
});

export const UpdateAudienceRequest = strictObject({
  organization_id: organizationId,
  audience_id: id('Identifier of the audience.'),
  name: Type.Optional(text('Name.', { minLength: 1 })),
  ...editableFields,
  if_updated_at: ifUpdatedAt,
});

export const DeleteAudienceRequest = strictObject({
  organization_id: organizationId,
  audience_id: id('Identifier of the audience.'),
  if_updated_at: ifUpdatedAt,
  return_deleted: optional(boolean('Whether the response has the audience as it was when it was deleted.')),
});

export const DeleteAudienceResponse = looseObject({
  organization_id: id('Organization of the audience.'),
  audience_id: id('Identifier of the audience.'),
  deleted: Type.Boolean({ description: 'False when there was no such audience.' }),
  deleted_audience: Type.Optional(
    nullable({
      ...Audience,
      description:
        'The audience as it was when it was deleted; only with `return_deleted`. Null where nothing was deleted, or where an earlier attempt of the request deleted it.',
    }),
  ),
});

export const SearchAudiencesRequest = strictObject({
  organization_id: Type.Optional(nullable(organizationId)),
  query: optional(
    text('Words to find in name, description and UTM value, with the rules of the contact query.', {
      maxLength: MAX_QUERY_LENGTH,
      [TEXT_QUERY]: true,
    }),
  ),
  include_counts: includeCounts,
  page: withDefault(optional(integer('Page, from 1.', { minimum: 1, maximum: 1000000 })), 1),
  limit: withDefault(
    optional(
      integer('Audiences a page. `page` × `limit` may not exceed 10 000.', { minimum: 1, maximum: 200 }),
    ),
    50,
  ),
});

export const SearchAudiencesResponse = looseObject({
  organization_id: id('Organization searched.'),
  audiences: arrayOf('The audiences of this page.', Audience),
  page: integer('The page.'),
  limit: integer('Audiences a page.'),
  total_count: integer('How many audiences match, exactly.', { minimum: 0 }),
});
