/** The response of the gateway and of its baseline: a page of 25 contacts. */
import { newContact } from '../../services/contacts/stored-contact.js';

const organizationId = 'org_bench';

export const answer = {
  organization_id: organizationId,
  contacts: Array.from({ length: 25 }, (_, index) =>
    newContact(
      organizationId,
      {
        organization_id: organizationId,
        audience_id: 'aud_bench',
        first_name: 'Maria',
        last_name: `Cantwell ${index}`,
        job_title: 'United States Senator',
        company_name: 'United States Senate',
        company_domain: 'senate.gov',
        phones: ['202-224-3441'],
        work_emails: [`maria.${index}@senate.gov`],
        city: 'Everett',
        country: 'United States',
      },
      1_790_000_000_000,
    ),
  ),
  next_cursor: null,
  total_count: 25,
};

export const requestBody = JSON.stringify({
  organization_id: organizationId,
  query: 'cantwell',
  country: 'US',
  limit: 25,
});
