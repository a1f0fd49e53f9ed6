import type { Static, TSchema } from 'typebox';
import { SearchAudiencesRequest } from '../audiences/schema.js';
import { SearchContactsRequest } from '../contacts/schema.js';
import {
  arrayOf,
  boolean,
  dateTime,
  id,
  looseObject,
  nullable,
  optional,
  organizationId,
  strictObject,
  stringEnum,
  Type,
  text,
} from '../shared/schema.js';
import { SearchVisitsRequest } from '../visits/schema.js';

export const VIEWS = ['contacts', 'audiences', 'visits'] as const;
export type View = (typeof VIEWS)[number];

function without<Fields extends Record<string, TSchema>, Name extends keyof Fields>(
  fields: Fields,
  ...names: Name[]
): Omit<Fields, Name> {
  const kept = Object.entries(fields).filter(([name]) => !names.includes(name as Name));
  return Object.fromEntries(kept) as Omit<Fields, Name>;
}

const FIELDS = {
  contacts: without(
    SearchContactsRequest.properties,
    ...(['organization_id', 'match', 'facets', 'explain', 'cursor', 'limit'] as const),
  ),
  audiences: without(
    SearchAudiencesRequest.properties,
    ...(['organization_id', 'include_counts', 'page', 'limit'] as const),
  ),
  visits: without(
    SearchVisitsRequest.properties,
    ...(['organization_id', 'facets', 'cursor', 'limit'] as const),
  ),
};

const DESCRIPTIONS = {
  contacts: 'Filters, query and order of `contacts/search`.',
  audiences: 'Query of `audiences/search`.',
  visits: 'Filters of `website-visits/search`.',
};

const name = text('Name of the saved filter.', { minLength: 1, maxLength: 100 });
const view = stringEnum('The list that the filter is for.', VIEWS);

export const SavedFilter = looseObject(
  {
    name: text('Name.'),
    contacts: Type.Optional(looseObject(FIELDS.contacts, { description: DESCRIPTIONS.contacts })),
    audiences: Type.Optional(looseObject(FIELDS.audiences, { description: DESCRIPTIONS.audiences })),
    visits: Type.Optional(looseObject(FIELDS.visits, { description: DESCRIPTIONS.visits })),
    created_at: dateTime('When a filter was first saved under the name, UTC.'),
    updated_at: dateTime('When the filter was last saved, UTC.'),
  },
  {
    $id: 'SavedFilter',
    description: 'The filter of a list under a name, in the field that the list is named after.',
  },
);
export type SavedFilter = Static<typeof SavedFilter>;

export const ListFiltersRequest = strictObject({ organization_id: optional(organizationId), view });
export const ListFiltersResponse = looseObject({
  organization_id: id('Organization of the filters.'),
  view: text('The list that the filters are for.'),
  filters: arrayOf('All saved filters of the list, by name.', SavedFilter),
});

export const SaveFilterRequest = strictObject({
  organization_id: optional(organizationId),
  name,
  replace: optional(
    boolean(
      'Whether to replace the filter of the list that has the name. If false, the response is 409 `filter_exists`.',
      {
        default: true,
      },
    ),
  ),
  contacts: optional(strictObject(FIELDS.contacts, { description: DESCRIPTIONS.contacts })),
  audiences: optional(strictObject(FIELDS.audiences, { description: DESCRIPTIONS.audiences })),
  visits: optional(strictObject(FIELDS.visits, { description: DESCRIPTIONS.visits })),
});
export const SaveFilterResponse = looseObject({
  organization_id: id('Organization of the filter.'),
  filter: SavedFilter,
  replaced_filter: nullable({
    ...SavedFilter,
    description: 'The filter that had the name before; null if there was none.',
  }),
});

export const DeleteFilterRequest = strictObject({ organization_id: optional(organizationId), view, name });
export const DeleteFilterResponse = looseObject({
  organization_id: id('Organization of the filter.'),
  deleted: Type.Boolean({ description: 'False if there was no such filter.' }),
  deleted_filter: nullable({
    ...SavedFilter,
    description: 'The filter before its deletion; null if there was none.',
  }),
});
