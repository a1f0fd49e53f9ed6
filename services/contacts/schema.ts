import type { Static, TArray, TOptional } from 'typebox';
import { cursorRequest, cursorResponse } from '../search/cursor.js';
import { MATCH_KINDS } from '../search/explain.js';
import { FacetCount } from '../search/facet-schema.js';
import { MATCH_MODES, MAX_QUERY_LENGTH } from '../search/query.js';
import { TIERS } from '../search/ranking.js';
import { sortRequest } from '../search/sort.js';
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
  stringEnum,
  TEXT_QUERY,
  Type,
  text,
  withDefault,
} from '../shared/schema.js';
import { MAX_AUDIENCES_PER_CONTACT, PRESENCE_FIELDS } from './field-types.js';
import {
  CONTACT_SORTS,
  createRequestFields,
  DERIVED_FIELDS,
  EXPLAINED_FIELDS,
  FACET_FIELDS,
  type FacetField,
  recordFields,
  responseFields,
} from './fields.js';

export const Contact = looseObject(
  {
    id: id('Same as `contact_id`.'),
    organization_id: id('Organization the contact belongs to.'),
    data_import_id: nullable(
      text('Import that created the contact; null for contacts created through the API.'),
    ),
    contact_id: id('Identifier of the contact.'),
    company_id: nullable(
      text(
        'Identifier of the company: the same for all contacts of the organization with the same company domain.',
      ),
    ),
    ...responseFields,
    seniority: nullable(DERIVED_FIELDS.seniority),
    department: nullable(DERIVED_FIELDS.department),
    audience_ids: arrayOf('Audiences the contact is a member of, ascending.', id('An audience id.')),
    created_at: dateTime('When the contact was first recorded, UTC.'),
    updated_at: dateTime('When the contact last changed, UTC.'),
  },
  { $id: 'Api_Organization_contact', description: 'A business contact. Every key is always present.' },
);
export type Contact = Static<typeof Contact>;

/** A record of the `contacts` stream (contract 6.1, 6.2). Given fields overwrite, absent fields stay, null clears a field. */
export const ContactRecord = strictObject({
  organization_id: organizationId,
  contact_id: id('Identifier of the contact.'),
  data_import_id: optional(text('Import that the record came with.')),
  import_id: optional(
    id(
      'Import of the record: the `data_import_id` of the contact, if the record creates the contact. `imports/undo` deletes such contacts.',
    ),
  ),
  company_id: optional(text('Identifier of the company; by default derived from the domain.')),
  ...recordFields,
  audience_ids: optional(
    arrayOf('Audiences to join. A record adds memberships and never removes one.', id('An audience id.'), {
      maxItems: MAX_AUDIENCES_PER_CONTACT,
    }),
  ),
  created_at: optional(dateTime('When the contact was first recorded; by default the time of acceptance.')),
  updated_at: optional(dateTime('Version of the record: an older record changes nothing.')),
  deleted,
});
export type ContactRecord = Static<typeof ContactRecord>;

export const CreateContactRequest = strictObject({
  organization_id: organizationId,
  audience_id: id('Audience the contact joins.'),
  ...createRequestFields,
});
export type CreateContactRequest = Static<typeof CreateContactRequest>;

export const CreateContactQuery = strictObject({
  required_credits: withDefault(
    Type.Optional(
      integer('Credits the creation costs. The balance must cover them.', { minimum: 0, maximum: 10000 }),
    ),
    1,
  ),
  on_duplicate: withDefault(
    Type.Optional(
      stringEnum(
        'What to do if a contact with the same profile address or a shared work email exists: create another contact (`create`), return the existing contact (`return`), update it with the given fields that are not null (`update`), or reject the request (`reject`). `return` and `update` cost nothing, add the existing contact to the audience, and need the scope `contacts:read` too. With several existing contacts, `update` is 409 `contact_exists` with `contact_ids`.',
        ['create', 'return', 'update', 'reject'],
      ),
    ),
    'create',
  ),
  dry_run: withDefault(
    Type.Optional(boolean('Check everything, write nothing, and report what would be charged.')),
    false,
  ),
});
export type CreateContactQuery = Static<typeof CreateContactQuery>;

const warnings = Type.Optional(
  arrayOf(
    'Values of the request that the contact does not have, as `code: sentence`; absent if there are none. `invalid_domain`: `company_domain` is not a domain and was left out.',
    Type.String({ description: 'One warning.' }),
    {
      examples: [['invalid_domain: company_domain is not a domain, such as example.com, and was left out.']],
    },
  ),
);

export const CreateContactResponse = looseObject({
  organization_id: id('Organization of the contact.'),
  contact_id: id('Identifier of the contact.'),
  contact: Type.Optional(Contact),
  credits_consumed: nullable(integer('Credits debited; null if the organization is not metered.')),
  credit_balance: nullable(integer('Balance after the creation; null if the organization is not metered.')),
  dry_run: Type.Optional(Type.Boolean({ description: 'Present and true if nothing was written.' })),
  duplicates: Type.Optional(
    arrayOf('Contacts that count as the same person (dry run only).', id('A contact id.')),
  ),
  warnings,
});
export type CreateContactResponse = Static<typeof CreateContactResponse>;

export const UpdateContactRequest = strictObject({
  organization_id: organizationId,
  contact_id: id('Identifier of the contact.'),
  if_updated_at: optional(
    dateTime('The `updated_at` that the contact must still have; otherwise 409 `changed_meanwhile`.'),
  ),
  ...recordFields,
});

export const GetContactRequest = strictObject({
  organization_id: organizationId,
  contact_id: id('Identifier of the contact.'),
});

export const GetContactResponse = looseObject({
  organization_id: id('Organization of the contact.'),
  contact: Type.Optional(Contact),
});

export const UpdateContactResponse = looseObject({ ...GetContactResponse.properties, warnings });

const contactIds = arrayOf('Identifiers of the contacts. Duplicates count once.', id('A contact id.'), {
  minItems: 1,
  maxItems: 1000,
});

export const GetContactsRequest = strictObject({ organization_id: organizationId, contact_ids: contactIds });

export const GetContactsResponse = looseObject({
  organization_id: id('Organization of the contacts.'),
  contacts: arrayOf('The contacts found, in the requested order.', Contact),
  missing: arrayOf('Identifiers without a contact, in the requested order.', id('A contact id.')),
  not_returned: arrayOf(
    'Identifiers that have no room in the response, in the requested order; empty unless the contacts take more than 4 MiB. Request them again.',
    id('A contact id.'),
  ),
});

const person = {
  contact_id: optional(id('Identifier of the contact.')),
  email: optional(
    text('Whole email address, among work and personal emails; case is ignored.', { maxLength: 320 }),
  ),
  network_a_url: optional(text('Whole profile address, or only its last path segment.')),
};

export const DeleteContactsRequest = strictObject({
  organization_id: organizationId,
  ...person,
  contact_ids: optional(contactIds),
  return_deleted: optional(
    boolean(
      'Whether the response has the contacts as they were before their deletion, at most 1 MiB of them.',
    ),
  ),
});

export const DeleteContactsResponse = looseObject({
  organization_id: id('Organization of the contacts.'),
  deleted: Type.Boolean({ description: 'False if no such contact exists.' }),
  deleted_count: integer('How many contacts were deleted.', { minimum: 0 }),
  contact_ids: arrayOf('Identifiers of the contacts that were deleted.', id('A contact id.')),
  missing: arrayOf('Identifiers without a contact, in the requested order.', id('A contact id.')),
  deleted_contacts: Type.Optional(
    arrayOf(
      'The contacts as they were before their deletion; only with `return_deleted`. Persons whose erasure is running are left out.',
      Contact,
    ),
  ),
  not_deleted: Type.Optional(
    arrayOf(
      'Identifiers of contacts that stay, because the response has no room for them; only with `return_deleted`. Delete them with another request.',
      id('A contact id.'),
    ),
  ),
});

export const EraseContactsRequest = strictObject({ organization_id: organizationId, ...person });

export const EraseContactsQuery = strictObject({
  dry_run: withDefault(Type.Optional(boolean('Erase nothing, and report whom this would erase.')), false),
});

export const ErasureProof = looseObject(
  {
    proof_id: id('Identifier of the proof.'),
    organization_id: id('Organization of the person.'),
    key_id: text('API key that requested the erasure.'),
    requested_at: dateTime('When the erasure was requested, UTC.'),
    completed_at: nullable(
      dateTime(
        'When nothing about the person could be read in a file of the store any more, UTC; null while the erasure is running.',
      ),
    ),
    hashes: arrayOf(
      'Salted hashes of the identifiers that are now suppressed; until all contacts are removed, only those that the request named.',
      text('A hash.'),
    ),
    removed: looseObject(
      {
        contacts: integer('Contacts.', { minimum: 0 }),
        memberships: integer('Memberships in audiences.', { minimum: 0 }),
        idempotency_answers: integer('Responses stored for idempotency keys.', { minimum: 0 }),
        rejections: integer('Rejected records whose identifier was stored.', { minimum: 0 }),
      },
      { description: 'How much was removed.' },
    ),
  },
  { $id: 'ErasureProof', description: 'What an erasure did, without personal data.' },
);

export const EraseContactsResponse = looseObject({
  organization_id: id('Organization of the person.'),
  dry_run: Type.Optional(Type.Boolean({ description: 'Present and true if nothing was erased.' })),
  erased: arrayOf('Identifiers of the contacts that were erased so far.', id('A contact id.')),
  related: arrayOf(
    'Contacts that stay although they share an email or profile address with the erased contacts. Shared addresses are not suppressed. At most 100.',
    id('A contact id.'),
  ),
  proof_id: nullable(id('Identifier of the proof; null in a dry run.')),
  proof: Type.Optional(ErasureProof),
});

export const ListErasuresRequest = strictObject({
  organization_id: organizationId,
  ...cursorRequest('Proofs'),
});
export type ListErasuresRequest = Static<typeof ListErasuresRequest>;

export const ListErasuresResponse = looseObject({
  organization_id: id('Organization of the erasures.'),
  erasures: arrayOf('The proofs of this page, oldest first.', ErasureProof),
  ...cursorResponse('proofs'),
});

const wordFilter = (field: string) =>
  optional(
    text(
      `Every given word must be a word of the ${field}, or begin one; case and accents do not matter. At most 32 different words.`,
    ),
  );

const contactFilters = {
  first_name: wordFilter('first name'),
  last_name: wordFilter('last name'),
  job_title: wordFilter('job title'),
  functional_area: wordFilter('functional area'),
  company_name: wordFilter('company name'),
  company_domain: optional(text('Whole domain; scheme, a leading www., port, path and case are ignored.')),
  city: wordFilter('city'),
  state_region: wordFilter('state or region'),
  country: optional(text('Country: ISO 3166 alpha-2, alpha-3 and English names are the same country.')),
  postal_code: optional(text('Whole postal code; case and spaces are ignored.')),
  network_a_url: optional(text('Whole profile address, or only its last path segment.')),
  email: optional(
    text('Whole email address, among work and personal emails; case is ignored.', { maxLength: 320 }),
  ),
  seniority: optional(DERIVED_FIELDS.seniority),
  department: optional(DERIVED_FIELDS.department),
  updated_after: optional(dateTime('Only contacts that last changed after this moment.')),
};

const presentFields = (description: string) =>
  optional(
    arrayOf(description, stringEnum('A field of contacts.', PRESENCE_FIELDS), {
      minItems: 1,
      maxItems: PRESENCE_FIELDS.length,
    }),
  );

/** Filters that `audiences/contacts/search` does not have. */
const moreFilters = {
  audience_id: optional(id('Only members of this audience.')),
  company_industry: wordFilter('industry'),
  company_domains: optional(
    arrayOf(
      'Domains of companies. Finds the people known there: a search for one of the domains as a phrase finds them, by the domain of their company or of an email.',
      text('A domain.', { minLength: 1 }),
      { minItems: 1, maxItems: 1000 },
    ),
  ),
  data_import_id: optional(text('Whole id of the import that created the contact.')),
  has: presentFields('The contact has all of these fields.'),
  lacks: presentFields('The contact has none of these fields.'),
  created_after: optional(dateTime('Only contacts created at or after this moment.')),
  created_before: optional(dateTime('Only contacts created before this moment.')),
};

const FilterObject = strictObject(
  { ...contactFilters, ...moreFilters },
  { $id: 'ContactFilter', description: 'Filters of a contact search, which must all match.' },
);
/** The filters of a contact search, without `any_of` and `none_of`. */
export type FilterObject = Static<typeof FilterObject>;

const filterObjects = (description: string) =>
  optional(arrayOf(description, FilterObject, { minItems: 1, maxItems: 10 }));

const segmentFilters = {
  ...moreFilters,
  any_of: filterObjects('Objects with filters of this request, of which at least one must match.'),
  none_of: filterObjects(
    'Objects with filters of this request that must not match. Each names at least one field.',
  ),
};

const facets = {
  facets: optional(
    arrayOf(
      'Fields whose 20 most frequent values are counted over all matches, whatever the page. Pages after the first need not repeat them.',
      stringEnum('A field of contacts.', FACET_FIELDS),
      { minItems: 1, maxItems: 5, examples: [['country', 'job_title']] },
    ),
  ),
};

const facetCounts = Type.Optional(
  looseObject(
    Object.fromEntries(
      FACET_FIELDS.map((field) => [
        field,
        Type.Optional(
          arrayOf(
            `The 20 most frequent values of \`${field}\`, as stored, the most frequent first.`,
            FacetCount,
          ),
        ),
      ]),
    ) as Record<FacetField, TOptional<TArray<typeof FacetCount>>>,
    { description: 'The requested facets; absent if none were requested.' },
  ),
);

const explain = {
  explain: optional(
    boolean('Adds `explanations`: why each contact of the page was found. CSV and NDJSON have none.'),
  ),
};

export const Explanation = looseObject({
  contact_id: id('The contact.'),
  tier: nullable(
    stringEnum(
      'The first criterion of the order: the query is the whole name, the whole first or last name; every word matches exactly; some match as an equivalent, such as `vp` for vice president; some match as the beginning of a word; some need typos. Null if no word must match.',
      TIERS,
    ),
  ),
  typos: integer('Typos of all words together; fewer typos come first.', { minimum: 0 }),
  words: arrayOf(
    'Where each word of the query matches best.',
    looseObject({
      word: text('A word of the query, or the words of a phrase, in the form in which they are compared.'),
      field: stringEnum(
        'Field of the contact. `full_name` is last and first name written together.',
        EXPLAINED_FIELDS,
      ),
      text: text('The word of that field, in the form in which it is compared; at most 64 characters.'),
      match: stringEnum('Kind of match.', MATCH_KINDS),
      row: Type.Optional(text('The row of the table of equivalents; only if `match` is `equivalent`.')),
      typos: integer('Letters to insert, delete, replace or swap.', { minimum: 0, maximum: 2 }),
    }),
  ),
});
export type Explanation = Static<typeof Explanation>;

const query = {
  query: optional(
    text(
      'Words that must match somewhere in the contact (but see `match`): as written, as an equivalent (`vp` and vice president, Bob and Robert, Munich and München), as the beginning of a word, or with a typo. An email, phone number, web or profile address may be written in any form. "A phrase" keeps words adjacent, -word excludes. At most 12 words.',
      { maxLength: MAX_QUERY_LENGTH, examples: ['ocasio cortez'], [TEXT_QUERY]: true },
    ),
  ),
};

export const SearchContactsRequest = strictObject({
  organization_id: organizationId,
  ...contactFilters,
  ...segmentFilters,
  ...query,
  match: withDefault(
    optional(
      stringEnum(
        'What to do if no contact matches every word of `query`: `best` returns the contacts that match most words, at least half, and says so in `partial`; `all` returns none. Phrases and excluded words must always hold.',
        MATCH_MODES,
      ),
    ),
    'best',
  ),
  ...facets,
  ...explain,
  ...sortRequest(CONTACT_SORTS),
  ...cursorRequest('Contacts'),
});
export type SearchContactsRequest = Static<typeof SearchContactsRequest>;

export const SearchAudienceContactsRequest = strictObject({
  organization_id: organizationId,
  audience_id: id('Audience to search in.'),
  ...contactFilters,
  ...facets,
  ...sortRequest(CONTACT_SORTS),
  ...cursorRequest('Contacts'),
});
export type SearchAudienceContactsRequest = Static<typeof SearchAudienceContactsRequest>;

const contactsPage = {
  contacts: arrayOf('The contacts of this page.', Contact),
  ...cursorResponse('contacts'),
  facets: facetCounts,
};

const unmatchedWords = arrayOf(
  'Words of the query, in the form in which they are compared, that no contact within the filters matches. At the top level, present only if the result is empty.',
  text('A word, or the words of a phrase.'),
);

export const SearchContactsResponse = looseObject({
  organization_id: id('Organization searched.'),
  ...contactsPage,
  partial: Type.Optional(
    looseObject(
      {
        words: integer('Words and phrases of the query.', { minimum: 2 }),
        matched: integer('How many of them each returned contact matches.', { minimum: 1 }),
        unmatched_words: unmatchedWords,
      },
      {
        description:
          'Present if no contact matches every word, and the contacts that match most words are returned.',
      },
    ),
  ),
  unmatched_words: Type.Optional(unmatchedWords),
  explanations: Type.Optional(
    arrayOf('One explanation per contact, in the same order; absent unless requested.', Explanation),
  ),
});

export const SearchAudienceContactsResponse = looseObject({
  organization_id: id('Organization searched.'),
  audience_id: id('Audience searched.'),
  ...contactsPage,
});

export const AddContactRequest = strictObject({
  organization_id: Type.Optional(nullable(organizationId)),
  audience_id: id('Audience the contact joins.'),
  contact_id: id('Contact that joins.'),
});

export const AddContactResponse = looseObject({
  organization_id: id('Organization of both.'),
  audience_id: id('Audience the contact is in.'),
  contact: Contact,
});

const BulkFilter = strictObject(
  { ...contactFilters, ...segmentFilters, ...query },
  {
    description:
      'Body of a contact search with `match: all`; every contact that it finds. Empty: every contact.',
  },
);
export type BulkFilter = Static<typeof BulkFilter>;

export const ContactChangesRequest = strictObject({
  organization_id: organizationId,
  filter: optional(BulkFilter),
  cursor: optional(
    Type.String({
      description:
        '`next_cursor` of the page before, with the same filter. If absent, the feed begins as `from` says.',
      maxLength: 16_384,
    }),
  ),
  from: optional(
    stringEnum(
      'Where a feed without `cursor` begins: with every contact that matches, or behind the newest change. Default: `beginning`.',
      ['beginning', 'now'],
    ),
  ),
  limit: withDefault(optional(integer('Changes a page.', { minimum: 1, maximum: 1000 })), 100),
});
export type ContactChangesRequest = Static<typeof ContactChangesRequest>;

const ContactChangeItem = looseObject({
  contact_id: id('The contact.'),
  state: stringEnum(
    '`present` if a search with the filter finds the contact now; `absent` if it is deleted, erased or does not match.',
    ['present', 'absent'],
  ),
  contact: Type.Optional(Contact),
});
export type ContactChangeItem = Static<typeof ContactChangeItem>;

export const ContactChangesResponse = looseObject({
  organization_id: id('Organization of the contacts.'),
  changes: arrayOf('Changed contacts, ordered by their last change.', ContactChangeItem),
  next_cursor: Type.String({ description: '`cursor` of the next page; never null.' }),
  more: Type.Boolean({ description: 'False if the page reached the newest change.' }),
});

const bulkContacts = {
  contact_ids: optional(contactIds),
  filter: optional(BulkFilter),
  cursor: optional(
    Type.String({
      description: '`next_cursor` of the previous request, with the same filter.',
      maxLength: 2048,
    }),
  ),
  return_changed: optional(
    boolean(
      'Whether the response lists the contacts whose membership changed. The request then processes at most 1 000 contacts.',
    ),
  ),
};

const bulkResult = {
  changed: integer('Number of contacts of this request whose membership changed.', { minimum: 0 }),
  changed_contact_ids: Type.Optional(
    arrayOf('Contacts whose membership changed; only with `return_changed`.', id('A contact id.')),
  ),
  unchanged: integer('Number of contacts whose membership was already as requested.', { minimum: 0 }),
  not_found: arrayOf(
    'Ids in `contact_ids` without a contact. All other contacts are done.',
    id('A contact id.'),
  ),
  next_cursor: nullable(
    Type.String({ description: '`cursor` for the next request; null once all matches are done.' }),
  ),
};

export const AddContactsRequest = strictObject({
  organization_id: organizationId,
  audience_id: id('Audience the contacts join.'),
  ...bulkContacts,
});

export const AddContactsResponse = looseObject({
  organization_id: id('Organization of all.'),
  audience_id: id('Audience the contacts are in.'),
  ...bulkResult,
  too_many_audiences: arrayOf(
    'Contacts that did not join, because they are in 10 000 audiences.',
    id('A contact id.'),
  ),
});

export const RemoveContactsRequest = strictObject({
  organization_id: organizationId,
  audience_id: id('Audience the contacts leave.'),
  ...bulkContacts,
});
export type RemoveContactsRequest = Static<typeof RemoveContactsRequest>;

export const RemoveContactsResponse = looseObject({
  organization_id: id('Organization of all.'),
  audience_id: id('Audience the contacts left.'),
  ...bulkResult,
});

export const RemoveContactRequest = strictObject({
  organization_id: organizationId,
  audience_id: id('Audience the contact leaves.'),
  contact_id: id('Contact that leaves.'),
});

export const RemoveContactResponse = looseObject({
  organization_id: id('Organization of both.'),
  audience_id: id('Audience the contact left.'),
  removed: Type.Boolean({ description: 'False if the contact is unknown or was not a member.' }),
});
