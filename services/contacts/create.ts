import { normalizeDomain } from '../search/normalize.js';
import { companyId, newId } from '../shared/ids.js';
import type { Contact, CreateContactRequest } from './schema.js';

/** The contact a creation makes: every key present, unknown ones null or empty (contract 3.1, 3.2). */
export function newContact(organizationId: string, body: CreateContactRequest, now: number): Contact {
  const id = newId('con', now);
  const moment = new Date(now).toISOString();
  const domain = body.company_domain ? normalizeDomain(body.company_domain) : '';
  const emails = (list: string[] | null | undefined) => (list ?? []).map((email) => email.toLowerCase());
  return {
    id,
    organization_id: organizationId,
    data_import_id: null,
    contact_id: id,
    company_id: domain === '' ? null : companyId(organizationId, domain),
    first_name: body.first_name ?? null,
    last_name: body.last_name ?? null,
    work_emails: emails(body.work_emails),
    personal_emails: emails(body.personal_emails),
    phones: body.phones ?? [],
    network_a_url: body.network_a_url ?? null,
    job_title: body.job_title ?? null,
    functional_area: body.functional_area ?? null,
    company_name: body.company_name ?? null,
    company_network_a_url: body.company_network_a_url ?? null,
    company_domain: body.company_domain ?? null,
    company_country: null,
    company_industry: null,
    city: body.city ?? null,
    state_region: body.state_region ?? null,
    country: body.country ?? null,
    postal_code: body.postal_code ?? null,
    age: body.age ?? null,
    dob: null,
    year_of_birth: null,
    gender: body.gender ?? null,
    person_image_url: null,
    company_image_url: null,
    audience_ids: [body.audience_id],
    created_at: moment,
    updated_at: moment,
  };
}
