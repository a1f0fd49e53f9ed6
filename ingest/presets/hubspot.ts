/** Contacts as HubSpot exports them: https://knowledge.hubspot.com/import-and-export/export-records */
import type { Preset } from './preset.js';

export const hubspot = {
  'hubspot/contacts': {
    description: 'HubSpot, export of contacts',
    stream: 'contacts',
    // Of the account; overridden with --timezone.
    timezone: 'UTC',
    recognize: ['Record ID', 'First Name', 'Last Name', 'Email'],
    fields: {
      contact_id: 'Record ID',
      first_name: 'First Name',
      last_name: 'Last Name',
      work_emails: { all: ['Email', 'Additional email addresses'] },
      phones: { all: ['Phone Number', 'Mobile Phone Number'] },
      network_a_url: 'LinkedIn URL',
      job_title: 'Job Title',
      functional_area: 'Job function',
      company_name: ['Company Name', 'Associated Company'],
      company_domain: ['Website URL', 'Email Domain'],
      company_industry: 'Industry',
      city: 'City',
      state_region: 'State/Region',
      country: 'Country/Region',
      postal_code: 'Postal Code',
      gender: 'Gender',
      created_at: 'Create Date',
      updated_at: 'Last Modified Date',
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;
