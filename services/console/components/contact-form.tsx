import { useState } from 'preact/hooks';
import type { Contact } from '../../contacts/schema.js';
import type { RequestOf } from '../api.js';
import { fullName } from '../format.js';
import type { Notice } from '../notice.js';
import { call } from '../session.js';
import { BusyForm, TextField } from './form.js';

const FIELDS = [
  ['first_name', 'First name'],
  ['last_name', 'Last name'],
  ['job_title', 'Job title'],
  ['functional_area', 'Functional area'],
  ['company_name', 'Company'],
  ['company_domain', 'Domain'],
  ['work_emails', 'Work emails'],
  ['personal_emails', 'Personal emails'],
  ['phones', 'Phones'],
  ['city', 'City'],
  ['state_region', 'State or region'],
  ['country', 'Country'],
  ['postal_code', 'Postal code'],
  ['network_a_url', 'Profile'],
] as const;
type Field = (typeof FIELDS)[number][0];
type Fields = Pick<RequestOf<'/api/contacts/update'>, Field>;

/** Several emails or phones are separated by commas. */
const textOf = (contact: Contact, field: Field) => [contact[field] ?? []].flat().join(', ');

function parseField(contact: Contact, field: Field, text: string): Fields[Field] {
  const values = text.split(',').map((each) => each.trim());
  if (Array.isArray(contact[field])) return values.filter(Boolean);
  return text.trim() || null;
}

/** Changes fields, unless somebody else changed the contact since; undone with the values of before. */
export async function updateContact(before: Contact, fields: Fields, done = 'was saved'): Promise<Notice> {
  const { contact_id, updated_at } = before;
  const { contact } = await call('/api/contacts/update', {
    contact_id,
    if_updated_at: updated_at,
    ...fields,
  });
  if (!contact) return { text: 'Saved.' };
  const earlier = Object.fromEntries(Object.keys(fields).map((field) => [field, before[field as Field]]));
  return {
    text: `${fullName(contact)} ${done}.`,
    undo: () => updateContact(contact, earlier as Fields, 'is as before'),
  };
}

interface ContactFormProps {
  contact: Contact;
  onSubmit(fields: Fields): Promise<unknown>;
}

export function ContactForm({ contact, onSubmit }: ContactFormProps) {
  // What was not typed here follows the contact, also when somebody else changes it meanwhile.
  const [typed, setTyped] = useState<Partial<Record<Field, string>>>({});
  const shown = (field: Field) => typed[field] ?? textOf(contact, field);
  const changed = FIELDS.filter(([field]) => shown(field) !== textOf(contact, field));
  return (
    <BusyForm
      label="Edit"
      onSubmit={() => {
        const fields = changed.map(([field]) => [field, parseField(contact, field, shown(field))]);
        return onSubmit(Object.fromEntries(fields) as Fields);
      }}
    >
      {FIELDS.map(([field, label]) => (
        <TextField
          key={field}
          label={label}
          value={shown(field)}
          onText={(text) => setTyped({ ...typed, [field]: text })}
        />
      ))}
      <button type="submit" class="primary" disabled={changed.length === 0}>
        Save
      </button>
    </BusyForm>
  );
}
