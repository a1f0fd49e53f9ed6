import { DERIVED_FIELD_NAMES } from '../../services/contacts/fields.js';
import { contactTooLarge } from '../../services/contacts/record-size.js';
import { ContactRecord } from '../../services/contacts/schema.js';
import type { Stream } from './stream.js';

const lowerCase = (emails: string[] | null | undefined) => emails?.map((email) => email.toLowerCase());

export const contacts: Stream<ContactRecord> = {
  name: 'contacts',
  summary: 'People: fields given overwrite, absent ones stay, null clears.',
  schema: ContactRecord,
  organizationField: 'organization_id',
  store: 'records',
  derivedFields: DERIVED_FIELD_NAMES,
  deletableBy: ['contact_id'],
  aliases: { id: 'contact_id' },
  domainField: 'company_domain',
  check: contactTooLarge,
  normalize(record) {
    if (record.work_emails) record.work_emails = lowerCase(record.work_emails);
    if (record.personal_emails) record.personal_emails = lowerCase(record.personal_emails);
  },
  key: (record) => `${record.organization_id}/${record.contact_id}`,
  refresh: (stores) => stores.records.refresh(),
  write: (stores, records) => stores.records.upsertContacts(records),
};
