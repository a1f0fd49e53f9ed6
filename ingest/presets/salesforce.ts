/** Contacts as Data Loader and the weekly export write them, with the fields of the account where the query asked for them. */
import type { Preset } from './preset.js';

export const salesforce = {
  'salesforce/contacts': {
    description: 'Salesforce, export of Contact',
    stream: 'contacts',
    where: { IsDeleted: ['false', '0', ''] },
    recognize: ['Id', 'LastName', 'FirstName', 'Email'],
    fields: {
      contact_id: 'Id',
      first_name: 'FirstName',
      last_name: 'LastName',
      work_emails: 'Email',
      phones: { all: ['Phone', 'MobilePhone', 'HomePhone', 'OtherPhone'] },
      job_title: 'Title',
      functional_area: 'Department',
      company_name: 'Account.Name',
      company_domain: 'Account.Website',
      company_industry: 'Account.Industry',
      company_country: 'Account.BillingCountry',
      city: 'MailingCity',
      state_region: 'MailingState',
      country: 'MailingCountry',
      postal_code: 'MailingPostalCode',
      dob: 'Birthdate',
      created_at: 'CreatedDate',
      updated_at: ['SystemModstamp', 'LastModifiedDate'],
    },
    ignore: 'rest',
  },
  // A tabular report as "Details Only" CSV, with the labels of the columns and lines about the report behind the rows:
  // https://help.salesforce.com/s/articleView?id=platform.reports_export.htm, 2026-11-25.
  'salesforce/contacts-report': {
    description: 'Salesforce, report of contacts with the labels of its columns',
    stream: 'contacts',
    timezone: 'UTC',
    recognize: ['Contact ID', 'First Name', 'Last Name', ['Email', 'Account Name', 'Mailing City']],
    fields: {
      contact_id: 'Contact ID',
      first_name: 'First Name',
      last_name: 'Last Name',
      work_emails: 'Email',
      phones: { all: ['Phone', 'Mobile', 'Other Phone', 'Home Phone'] },
      job_title: 'Title',
      functional_area: 'Department',
      company_name: 'Account Name',
      company_domain: 'Website',
      company_industry: 'Industry',
      city: 'Mailing City',
      state_region: 'Mailing State/Province',
      country: 'Mailing Country',
      postal_code: 'Mailing Zip/Postal Code',
      created_at: 'Created Date',
      updated_at: ['Last Modified Date', 'Last Update'],
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;
