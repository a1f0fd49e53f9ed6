/** Contacts as tools for prospecting and marketing export them. */
import type { SourceOptions } from '../mapping/mapping-file.js';
import type { Preset } from './preset.js';

/** The slug of a profile as an id. */
const profileIds = (path: string): SourceOptions[] =>
  ['https://www.linkedin.com/in/', 'http://www.linkedin.com/in/'].map((prefix) => ({
    path,
    prefix,
    trim: '/',
    lower: true,
    id: true,
  }));
const emailId = (path: string): SourceOptions => ({ path, lower: true, id: true });

export const apollo = {
  // Apollo publishes no list: the columns that public programs read, among them two forms of the export (2026-11-25).
  'apollo/contacts': {
    description: 'Apollo, export of contacts',
    stream: 'contacts',
    recognize: [
      'First Name',
      'Last Name',
      'Person Linkedin Url',
      ['Apollo Contact Id', 'Company Linkedin Url'],
    ],
    fields: {
      contact_id: ['Apollo Contact Id', ...profileIds('Person Linkedin Url'), emailId('Email')],
      first_name: 'First Name',
      last_name: 'Last Name',
      work_emails: { all: ['Email', 'Secondary Email', 'Tertiary Email'] },
      phones: {
        all: [
          { path: 'Work Direct Phone', trim: "'" },
          { path: 'Mobile Phone', trim: "'" },
          { path: 'Home Phone', trim: "'" },
          { path: 'Corporate Phone', trim: "'" },
          { path: 'Other Phone', trim: "'" },
        ],
      },
      network_a_url: 'Person Linkedin Url',
      job_title: 'Title',
      functional_area: 'Departments',
      company_name: ['Company', 'Company Name'],
      company_domain: [
        { path: 'Website', host: true },
        { path: 'Email', host: true },
      ],
      company_industry: 'Industry',
      company_country: 'Company Country',
      city: 'City',
      state_region: 'State',
      country: 'Country',
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;

export const zoominfo = {
  // ZoomInfo publishes no list: the columns that public programs read (2026-11-25).
  'zoominfo/contacts': {
    description: 'ZoomInfo, export of contacts',
    stream: 'contacts',
    recognize: ['ZoomInfo Contact ID', 'First Name', 'Last Name'],
    fields: {
      contact_id: 'ZoomInfo Contact ID',
      first_name: 'First Name',
      last_name: 'Last Name',
      work_emails: 'Email Address',
      phones: { all: ['Direct Phone Number', 'Mobile phone'] },
      network_a_url: 'LinkedIn Contact Profile URL',
      job_title: 'Job Title',
      functional_area: ['Job Function', 'Department'],
      company_name: 'Company Name',
      company_domain: [
        { path: 'Website', host: true },
        { path: 'Email Domain', host: true },
      ],
      company_industry: 'Primary Industry',
      company_country: 'Company Country',
      city: 'Person City',
      state_region: 'Person State',
      country: 'Country',
      postal_code: 'Person Zip Code',
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;

export const marketo = {
  // Fields of a bulk extract: https://experienceleague.adobe.com/en/docs/marketo-developer/marketo/rest/bulk-extract/bulk-lead-extract, read 2026-11-25.
  'marketo/leads': {
    description: 'Marketo Engage, bulk extract of leads',
    stream: 'contacts',
    timezone: 'UTC',
    recognize: ['id', 'firstName', 'lastName', 'email', ['updatedAt', 'createdAt', 'company']],
    fields: {
      contact_id: 'id',
      first_name: 'firstName',
      last_name: 'lastName',
      work_emails: 'email',
      phones: { all: ['phone', 'mobilePhone'] },
      job_title: 'title',
      functional_area: 'department',
      company_name: 'company',
      company_domain: [{ path: 'website', host: true }],
      company_industry: 'industry',
      city: 'city',
      state_region: 'state',
      country: 'country',
      postal_code: 'postalCode',
      created_at: 'createdAt',
      updated_at: 'updatedAt',
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;

export const linkedinConnections = {
  // The archive of an account, behind three lines of notes, as public programs read it (2026-11-25).
  'linkedin-connections/contacts': {
    description: 'LinkedIn, Connections.csv of an archive',
    stream: 'contacts',
    timezone: 'UTC',
    recognize: ['First Name', 'Last Name', 'Position', 'Connected On'],
    fields: {
      contact_id: [...profileIds('URL'), emailId('Email Address')],
      first_name: 'First Name',
      last_name: 'Last Name',
      network_a_url: 'URL',
      personal_emails: 'Email Address',
      company_name: 'Company',
      job_title: 'Position',
      created_at: { path: 'Connected On', format: 'DD MMM YYYY' },
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;

export const rb2b = {
  // https://support.rb2b.com/en/articles/9483979-formatting-your-custom-rb2b-integration, read 2026-11-25.
  'rb2b/contacts': {
    description: 'RB2B, identified visitors',
    stream: 'contacts',
    recognize: ['LinkedIn URL', 'Business Email', 'Seen At', 'Captured URL'],
    fields: {
      contact_id: [...profileIds('LinkedIn URL'), emailId('Business Email')],
      first_name: 'First Name',
      last_name: 'Last Name',
      work_emails: 'Business Email',
      network_a_url: 'LinkedIn URL',
      job_title: 'Title',
      company_name: 'Company Name',
      company_domain: [{ path: 'Website', host: true }],
      company_industry: 'Industry',
      city: 'City',
      state_region: 'State',
      postal_code: 'Zipcode',
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;
