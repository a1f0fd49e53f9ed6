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
} satisfies Record<string, Preset>;
