import type { AudienceStore } from '../audiences/audience-store.js';
import { audienceNotFound, requireAudience, requireAudiences } from '../audiences/endpoints.js';
import { cursorListWith } from '../http/cursor-list.js';
import { endpointsWith, type HandlerContext } from '../http/endpoint.js';
import { unwrapIdempotent } from '../http/idempotency.js';
import { invalid, Problem } from '../http/problems.js';
import { domainOf } from '../search/normalize.js';
import { newId } from '../shared/ids.js';
import { JsonText, jsonArray } from '../shared/json.js';
import { firstFew } from '../shared/text.js';
import { type Clock, parseTimestamp } from '../shared/time.js';
import type { FieldError } from '../shared/validation.js';
import { bulkMembershipEndpoints } from './bulk-memberships.js';
import type { ChangeFeed } from './change-feed.js';
import { changeEndpoints } from './changes.js';
import type { AddOutcome, ContactStore, CreateOutcome, UpdateOutcome } from './contact-store.js';
import type { ErasureStore } from './erasure-store.js';
import { explainPage } from './explain.js';
import { importEndpoints } from './imports.js';
import { networkLists } from './network-lists.js';
import { exactlyOneOf, findPerson } from './person.js';
import { contactTooLarge } from './record-size.js';
import {
  AddContactRequest,
  AddContactResponse,
  Contact,
  CreateContactQuery,
  CreateContactRequest,
  CreateContactResponse,
  DeleteContactsRequest,
  DeleteContactsResponse,
  EraseContactsQuery,
  EraseContactsRequest,
  EraseContactsResponse,
  ErasureProof,
  GetContactRequest,
  GetContactResponse,
  GetContactsRequest,
  GetContactsResponse,
  ListErasuresRequest,
  ListErasuresResponse,
  RemoveContactRequest,
  RemoveContactResponse,
  SearchAudienceContactsRequest,
  SearchAudienceContactsResponse,
  SearchContactsRequest,
  SearchContactsResponse,
  UpdateContactRequest,
  UpdateContactResponse,
} from './schema.js';
import { namedAudiences, searchContacts, toContactSearch, withPartial } from './search.js';
import { newContact, TOO_MANY_AUDIENCES } from './stored-contact.js';
import { identifiersOf, idIdentifiers, namedIdentifiers } from './suppression.js';

export interface ContactServices {
  records: ContactStore &
    ChangeFeed &
    ErasureStore &
    Pick<AudienceStore, 'getAudience'> & { refresh(): Promise<void> };
  clock: Clock;
}

const endpoint = endpointsWith<ContactServices>();
const cursorList = cursorListWith<ContactServices>();

/** Additional slots of a large page. A page of a thousand occupies a store and the process for longer than a page of fifty. */
const slotsOfPage = (limit: number | null | undefined) => ((limit ?? 0) > 200 ? 2 : 0);

/** Additional slots of facets, which read every match. */
const slotsOfFacets = (facets: readonly unknown[] | null | undefined) => (facets ? 4 : 0);

type Failure = Exclude<CreateOutcome | UpdateOutcome | AddOutcome, { contact: unknown }>;

/** The problem that says why nothing was read or written, and that names the subject of the request. */
function failureProblem(
  failure: Failure,
  organization_id: string,
  { contact_id = '', audience_id = '' }: { contact_id?: string; audience_id?: string },
  required_credits = 0,
): Problem {
  switch (failure.kind) {
    case 'audience_not_found':
      return audienceNotFound(organization_id, audience_id);
    case 'contact_not_found': {
      const detail = `The organization has no contact ${contact_id}.`;
      return new Problem(failure.kind, detail, { organization_id, contact_id });
    }
    case 'contact_suppressed': {
      const detail = 'A person with this id, email or profile address was erased; new records are rejected.';
      return new Problem(failure.kind, detail, { organization_id });
    }
    case 'contact_exists': {
      const { contactId } = failure;
      const { contactIds = [contactId] } = failure as { contactIds?: string[] };
      const extras = { organization_id, contact_id: contactId, contact_ids: contactIds };
      const detail =
        contactIds.length === 1
          ? `The contact exists already as ${contactId}.`
          : `Several contacts have this profile or one of these work emails: ${firstFew(contactIds)}. Change the right one with /api/contacts/update.`;
      return new Problem(failure.kind, detail, extras);
    }
    case 'changed_meanwhile': {
      const detail =
        'The contact has changed since if_updated_at. Get it again, and send the change with the new updated_at.';
      return new Problem(failure.kind, detail, { organization_id, contact_id });
    }
    case 'insufficient_credits': {
      const credit_balance = failure.creditBalance;
      const detail = `This costs ${required_credits} credits, but the balance is ${credit_balance}.`;
      return new Problem(failure.kind, detail, { required_credits, credit_balance });
    }
    case 'too_many_audiences':
      return invalid({ pointer: '/audience_id', code: failure.kind, detail: TOO_MANY_AUDIENCES });
    case 'too_large':
      return invalid(failure.error);
  }
}

/** Warns of a `company_domain` that is not a domain. Such a value leaves the field unchanged (contract 6.2b). */
const leftOut = ({ company_domain: domain }: { company_domain?: string | null }): { warnings?: string[] } =>
  domain && domain.trim() !== '' && domainOf(domain) === null
    ? { warnings: ['invalid_domain: company_domain is not a domain, such as example.com, and was left out.'] }
    : {};

/** Maximum size of a body, in bytes: a contact of 32 KiB, with every character escaped as six. */
const CREATION_LIMIT = 256 * 1024;

const createContact = endpoint({
  path: '/api/contacts/create',
  name: 'CreateContact',
  summary: 'Create a contact in an audience',
  description:
    'Debits `required_credits` together with the creation, or does neither. With an `Idempotency-Key` header, a repeated request gets the first response again and costs nothing. A contact may take at most 32 KiB as JSON.',
  tag: 'Contacts',
  scope: ['contacts:write'],
  request: CreateContactRequest,
  query: CreateContactQuery,
  response: CreateContactResponse,
  example: {
    organization_id: 'org_demo',
    audience_id: 'aud_customers',
    first_name: 'Ada',
    last_name: 'Lovelace',
    job_title: 'Analyst',
    company_name: 'Analytical Engines',
    company_domain: 'analytical.example',
    work_emails: ['ada@analytical.example'],
    country: 'United Kingdom',
  },
  exampleQuery: { on_duplicate: 'return' },
  problems: ['audience_not_found', 'insufficient_credits', 'contact_exists', 'contact_suppressed'],
  bodyLimit: CREATION_LIMIT,
  idempotent: true,
  // With these values, the response may contain an existing contact.
  queryScope: ({ on_duplicate }) =>
    on_duplicate === 'return' || on_duplicate === 'update' ? ['contacts:read'] : [],
  check(body) {
    const tooLarge = contactTooLarge(body);
    return tooLarge ? [tooLarge] : [];
  },
  async handle(context) {
    const { body, query, organizationId, services, idempotency } = context;
    const result = await services.records.createContact({
      contact: newContact(organizationId, body, services.clock.now()),
      audienceId: body.audience_id,
      requiredCredits: query.required_credits,
      onDuplicate: query.on_duplicate,
      dryRun: query.dry_run,
      idempotency,
    });
    const outcome = unwrapIdempotent(context, result);
    if (!('contact' in outcome)) throw failureProblem(outcome, organizationId, body, query.required_credits);
    return {
      organization_id: organizationId,
      contact_id: outcome.contact.id,
      contact: outcome.contact,
      credits_consumed: outcome.creditsConsumed,
      credit_balance: outcome.creditBalance,
      ...(query.dry_run ? { dry_run: true, duplicates: outcome.duplicates } : {}),
      ...leftOut(body),
    };
  },
});

const updateContact = endpoint({
  path: '/api/contacts/update',
  name: 'UpdateContact',
  summary: 'Change a contact',
  description:
    'Given fields overwrite, `null` and blank text clear, and other fields stay. Costs no credits. A work email or profile address that another contact has is 409 `contact_exists`, unless this contact had it before. With `if_updated_at`, a contact that has changed since is 409 `changed_meanwhile`, so that no change by somebody else is lost. Records of the stream `contacts` that are older than the update change nothing; later records do.',
  tag: 'Contacts',
  // The response contains the contact.
  scope: ['contacts:write', 'contacts:read'],
  request: UpdateContactRequest,
  response: UpdateContactResponse,
  example: {
    organization_id: 'org_demo',
    contact_id: 'demo_contact_0001',
    job_title: 'Head of Marketing',
    postal_code: null,
  },
  problems: ['contact_not_found', 'changed_meanwhile', 'contact_exists', 'contact_suppressed'],
  bodyLimit: CREATION_LIMIT,
  idempotent: true,
  nullClears: true,
  async handle(context) {
    const { body, organizationId, services, idempotency } = context;
    const { organization_id: _, contact_id: contactId, if_updated_at: ifUpdatedAt, ...changes } = body;
    const result = await services.records.updateContact({
      organizationId,
      contactId,
      changes,
      ifUpdatedMs: ifUpdatedAt ? parseTimestamp(ifUpdatedAt) : undefined,
      idempotency,
    });
    const outcome = unwrapIdempotent(context, result);
    if (outcome.kind !== 'updated') throw failureProblem(outcome, organizationId, body);
    return { organization_id: organizationId, contact: outcome.contact, ...leftOut(body) };
  },
});

const getContact = endpoint({
  path: '/api/contacts/get',
  name: 'GetContact',
  summary: 'Get a contact',
  tag: 'Contacts',
  scope: ['contacts:read'],
  request: GetContactRequest,
  response: GetContactResponse,
  example: { organization_id: 'org_demo', contact_id: 'demo_contact_0001' },
  problems: ['contact_not_found'],
  async handle(call) {
    const { body, organizationId, services } = call;
    const contact = await services.records.getContact(organizationId, body.contact_id, call);
    if (!contact) throw failureProblem({ kind: 'contact_not_found' }, organizationId, body);
    return { organization_id: organizationId, contact: new JsonText(contact) };
  },
});

const getContacts = endpoint({
  path: '/api/contacts/get-many',
  name: 'GetContacts',
  summary: 'Get many contacts',
  description:
    'Up to 1 000 contacts by their ids, in the requested order. `missing` lists ids without a contact. The response takes at most 4 MiB: if contacts have no room, `not_returned` lists them and all later ids; request these again.',
  tag: 'Contacts',
  scope: ['contacts:read'],
  request: GetContactsRequest,
  slots: ({ contact_ids }) => 1 + slotsOfPage(contact_ids.length),
  response: GetContactsResponse,
  example: { organization_id: 'org_demo', contact_ids: ['demo_contact_0001', 'demo_contact_0002'] },
  async handle({ body, organizationId, services, signal }) {
    const contactIds = [...new Set(body.contact_ids)];
    const batch = await services.records.getContacts(organizationId, contactIds, signal);
    return {
      organization_id: organizationId,
      contacts: jsonArray(batch.contacts),
      missing: batch.missing,
      not_returned: batch.notReturned,
    };
  },
});

const deleteContacts = endpoint({
  path: '/api/contacts/delete',
  name: 'DeleteContacts',
  summary: 'Delete contacts',
  description:
    'Name the contacts by exactly one of `contact_id`, `contact_ids`, `email` and `network_a_url`. An address means every contact that has it, at most 1 000 (otherwise 422 `too_many_contacts`). The contacts leave their audiences. A record of the stream `contacts` creates a contact again only if its `updated_at`, or otherwise its acceptance, is later than the deletion. Deleting again changes nothing. With `return_deleted`, `deleted_contacts` has the contacts as they were before their deletion; sending them to the stream `contacts` without `updated_at` restores them. Contacts beyond 1 MiB stay and are listed in `not_deleted`. `return_deleted` needs the scope `contacts:read` too.',
  tag: 'Contacts',
  scope: ['contacts:write'],
  // With `return_deleted`, the response contains what a search would find.
  bodyScope: ({ return_deleted }) => (return_deleted ? ['contacts:read'] : []),
  request: DeleteContactsRequest,
  slots: ({ contact_ids }) => 1 + slotsOfPage(contact_ids?.length),
  response: DeleteContactsResponse,
  example: { organization_id: 'org_demo', contact_ids: ['demo_contact_9998', 'demo_contact_9999'] },
  check: exactlyOneOf('contact_id', 'contact_ids', 'email', 'network_a_url'),
  shows: ({ contact_ids, missing, deleted_contacts = [], not_deleted = [] }) => [
    ...idIdentifiers([...contact_ids, ...missing, ...not_deleted]),
    ...deleted_contacts.flatMap(identifiersOf),
  ],
  async handle({ body, organizationId, services, signal, beginsToWrite }) {
    const given = body.contact_ids ?? (body.contact_id ? [body.contact_id] : null);
    const ids = given ?? (await findPerson(services.records, organizationId, body, { signal }));
    const returnsContacts = body.return_deleted ?? false;
    beginsToWrite();
    const { deleted, missing, contacts, notDeleted } = await services.records.deleteContacts({
      organizationId,
      contactIds: [...new Set(ids)],
      returnsContacts,
    });
    return {
      organization_id: organizationId,
      deleted: deleted.length > 0,
      deleted_count: deleted.length,
      contact_ids: deleted,
      missing: given ? missing : [],
      ...(returnsContacts && { deleted_contacts: jsonArray(contacts), not_deleted: notDeleted }),
    };
  },
});

const eraseContacts = endpoint({
  path: '/api/contacts/erase',
  name: 'EraseContacts',
  summary: 'Erase a person',
  description:
    'Suppresses the given identifier, which is exactly one of `contact_id`, `email` and `network_a_url`. Then removes every contact that has it, at most 1 000, with all stored data about it, down to the bytes in the files of the store. The request waits up to 20 seconds for the removal, and 2 more for the last byte. Until then, the `completed_at` of the proof is null, and the erasure continues. Salted hashes of the identifiers stay: later creations of the person are rejected (409 `contact_suppressed`), and ingest does not store the person (counted as `suppressed`). Cannot be undone: use `dry_run` first.',
  tag: 'Contacts',
  scope: ['contacts:erase'],
  request: EraseContactsRequest,
  query: EraseContactsQuery,
  // Treated as a secret: otherwise, the erasure that this response reports would delete the stored response.
  answersSecret: true,
  slots: () => 4,
  response: EraseContactsResponse,
  example: { organization_id: 'org_demo', email: 'erased.person@mail.example' },
  exampleQuery: { dry_run: true },
  check: exactlyOneOf('contact_id', 'email', 'network_a_url'),
  async handle({ body, query, organizationId, services, signal, keyId, beginsToWrite }) {
    const { records, clock } = services;
    const contactIds = body.contact_id
      ? (await records.getContacts(organizationId, [body.contact_id], signal)).contacts.length > 0
        ? [body.contact_id]
        : []
      : await findPerson(records, organizationId, body, { signal });
    const answer = { organization_id: organizationId, erased: contactIds };
    if (query.dry_run) return { ...answer, dry_run: true, related: [], proof_id: null };
    const identifiers = namedIdentifiers(body);
    beginsToWrite();
    const { erased, related, proof } = await records.eraseContacts({
      organizationId,
      proofId: newId('era', clock.now()),
      keyId,
      // The last path segment of a profile is not an address, so the contacts that it finds are named in its place.
      named: identifiers.length > 0 ? identifiers : contactIds.map((value) => ({ kind: 'id', value })),
    });
    return { ...answer, erased, related, proof_id: proof.proof_id, proof };
  },
});

const listErasures = endpoint({
  path: '/api/contacts/erasures',
  name: 'ListErasures',
  summary: 'List proofs of erasures',
  description:
    'The erasures of the organization, oldest first, without personal data. Continue with `cursor`; the last page has a null `next_cursor`. A page ends early, with a `next_cursor`, if it would take more than 4 MiB.',
  tag: 'Contacts',
  scope: ['contacts:erase'],
  example: { organization_id: 'org_demo' },
  ...cursorList({
    items: 'erasures',
    item: ErasureProof,
    request: ListErasuresRequest,
    response: ListErasuresResponse,
    readPage: ({ organizationId, services, signal }, { limit, after }) =>
      services.records.listErasures({ organizationId, limit, after }, signal),
  }),
});

/** Rejects a sort together with a query, because a search with a query is ordered by relevance. */
export function checkSort(_: unknown, sent: Readonly<Record<string, unknown>>): FieldError[] {
  if (sent.query === undefined) return [];
  return ['sort_by', 'sort_direction']
    .filter((name) => sent[name] !== undefined)
    .map((name) => ({
      pointer: `/${name}`,
      code: 'not_with_query',
      detail: `${name} cannot be combined with query, which orders contacts by relevance; leave one of them out.`,
    }));
}

const searchContactsEndpoint = endpoint({
  path: '/api/contacts/search',
  name: 'SearchContacts',
  summary: 'Search contacts',
  description:
    'All given filters must match. With `query`, the best matches come first; otherwise the newest, or the order of `sort_by`. Continue with `cursor`; the last page has a null `next_cursor`. A page ends early, with a `next_cursor`, if it would take more than 4 MiB. `facets` counts the most frequent values of fields over all matches. A value is counted as stored; a filter by it ignores case and accents, and so may match more.',
  tag: 'Contacts',
  scope: ['contacts:read'],
  slots: ({ query, limit, facets }) => (query ? 2 : 1) + slotsOfPage(limit) + slotsOfFacets(facets),
  example: { organization_id: 'org_demo', query: 'marketing', limit: 2 },
  problems: ['audience_not_found'],
  check: checkSort,
  ...cursorList({
    items: 'contacts',
    item: Contact,
    profiles: networkLists,
    request: SearchContactsRequest,
    response: SearchContactsResponse,
    pageFields: ['facets', 'explain'],
    async readPage(context, range) {
      const { body, organizationId, services, textQuery, signal } = context;
      if (!range.skipsTotal)
        await requireAudiences(services.records, organizationId, namedAudiences(body), context);
      const search = { ...toContactSearch(organizationId, body, textQuery), ...range };
      const { page, query } = await searchContacts(
        (part) => services.records.searchContacts(part, context),
        search,
      );
      const explanations = body.explain && (await explainPage(page, query, signal));
      return { ...withPartial(page, query), ...(explanations && { explanations }) };
    },
  }),
});

const searchAudienceContacts = endpoint({
  path: '/api/audiences/contacts/search',
  name: 'SearchAudienceContacts',
  summary: 'Search contacts in one audience',
  description: 'The same as the search over all contacts, without `query`.',
  tag: 'Audiences',
  scope: ['contacts:read'],
  slots: ({ limit, facets }) => 1 + slotsOfPage(limit) + slotsOfFacets(facets),
  example: { organization_id: 'org_demo', audience_id: 'aud_customers', country: 'US', limit: 2 },
  problems: ['audience_not_found'],
  ...cursorList({
    items: 'contacts',
    item: Contact,
    profiles: networkLists,
    request: SearchAudienceContactsRequest,
    response: SearchAudienceContactsResponse,
    pageFields: ['facets'],
    async readPage(context, range) {
      const { body, organizationId, services } = context;
      const { audience_id } = body;
      if (!range.skipsTotal) await requireAudience(services.records, organizationId, audience_id, context);
      const search = { ...toContactSearch(organizationId, body), ...range };
      return { audience_id, ...(await services.records.searchContacts(search, context)) };
    },
  }),
});

const membershipOf = ({
  body,
  organizationId,
  idempotency,
}: HandlerContext<{ audience_id: string; contact_id: string }, unknown>) => ({
  organizationId,
  audienceId: body.audience_id,
  contactId: body.contact_id,
  idempotency,
});

const addContact = endpoint({
  path: '/api/audiences/contacts/add',
  name: 'AddContact',
  summary: 'Add a contact to an audience',
  description:
    'Adding a member again changes nothing and returns the same. A contact may be in at most 10 000 audiences.',
  tag: 'Audiences',
  // The response contains the contact.
  scope: ['audiences:write', 'contacts:read'],
  request: AddContactRequest,
  response: AddContactResponse,
  example: { organization_id: 'org_demo', audience_id: 'aud_newsletter', contact_id: 'demo_contact_0001' },
  problems: ['audience_not_found', 'contact_not_found'],
  idempotent: true,
  async handle(call) {
    const { body, organizationId, services } = call;
    const outcome = unwrapIdempotent(call, await services.records.addMembership(membershipOf(call)));
    if (outcome.kind !== 'added') throw failureProblem(outcome, organizationId, body);
    return { organization_id: organizationId, audience_id: body.audience_id, contact: outcome.contact };
  },
});

const removeContact = endpoint({
  path: '/api/audiences/contacts/remove',
  name: 'RemoveContact',
  summary: 'Remove a contact from an audience',
  description: 'The contact itself stays.',
  tag: 'Audiences',
  scope: ['audiences:write'],
  request: RemoveContactRequest,
  response: RemoveContactResponse,
  example: { organization_id: 'org_demo', audience_id: 'aud_newsletter', contact_id: 'demo_contact_0001' },
  problems: ['audience_not_found'],
  idempotent: true,
  async handle(call) {
    const { body, organizationId, services } = call;
    const outcome = unwrapIdempotent(call, await services.records.removeMembership(membershipOf(call)));
    if (outcome.kind === 'audience_not_found') throw audienceNotFound(organizationId, body.audience_id);
    return { organization_id: organizationId, audience_id: body.audience_id, removed: outcome.removed };
  },
});

export const contactEndpoints = [
  createContact,
  updateContact,
  getContact,
  getContacts,
  deleteContacts,
  eraseContacts,
  listErasures,
  searchContactsEndpoint,
  addContact,
  removeContact,
  ...bulkMembershipEndpoints,
  ...changeEndpoints,
  ...importEndpoints,
  searchAudienceContacts,
];
