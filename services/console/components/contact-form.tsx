import { useState } from 'preact/hooks';
import type { Contact } from '../../contacts/schema.js';
import type { RequestOf } from '../api.js';
import { fullName } from '../format.js';
import type { Notice } from '../notice.js';
import { useLoss } from '../router.js';
import { type Session, useSession } from '../session.js';
import { BusyForm, TextField, UNSAVED, useWrongFields } from './form.js';

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

/** Texts of a field: several for a list. */
const textsOf = (contact: Contact, field: Field): readonly string[] => [contact[field] ?? []].flat();
const isList = (contact: Contact, field: Field) => Array.isArray(contact[field]);
const given = (texts: readonly string[]) => texts.map((text) => text.trim()).filter(Boolean);

/** Changes fields, unless somebody else has changed the contact since. Undo restores the previous values. */
export async function updateContact(
  session: Session,
  before: Contact,
  fields: Fields,
  done = 'was saved',
): Promise<Notice> {
  const { contact_id, updated_at } = before;
  const { contact } = await session.call('/api/contacts/update', {
    contact_id,
    if_updated_at: updated_at,
    ...fields,
  });
  if (!contact) return { text: 'Saved.' };
  const earlier = Object.fromEntries(Object.keys(fields).map((field) => [field, before[field as Field]]));
  return {
    text: `${fullName(contact)} ${done}.`,
    undo: () => updateContact(session, contact, earlier as Fields, 'is as before'),
  };
}

interface ContactFormProps {
  contact: Contact;
  onSubmit(fields: Fields): Promise<unknown>;
}

export function ContactForm({ contact, onSubmit }: ContactFormProps) {
  // Fields that were not edited here follow the contact, including changes by somebody else.
  const [typed, setTyped] = useState<Partial<Record<Field, readonly string[]>>>({});
  const shown = (field: Field) => typed[field] ?? textsOf(contact, field);
  const changed = FIELDS.filter(
    ([field]) => given(shown(field)).join('\n') !== textsOf(contact, field).join('\n'),
  );
  useLoss(changed.length > 0 ? UNSAVED : null);
  const session = useSession();
  const { setWrong, errorOf, edited } = useWrongFields();
  return (
    <BusyForm
      label="Edit"
      onSubmit={async () => {
        const fields = changed.map(([field]) => {
          const texts = given(shown(field));
          return [field, isList(contact, field) ? texts : (texts[0] ?? null)];
        });
        await onSubmit(Object.fromEntries(fields) as Fields);
        setWrong(session.notice.value?.fields ?? []);
      }}
    >
      {FIELDS.flatMap(([field, label]) => {
        const texts = shown(field);
        // An extra empty input for the next value, or for the first one.
        const hasNext = texts.length === 0 || (isList(contact, field) && texts.at(-1) !== '');
        const inputs = hasNext ? [...texts, ''] : texts;
        return inputs.map((value, index) => (
          <TextField
            key={`${field} ${index}`}
            label={index === 0 ? label : `${label}, ${index + 1}`}
            value={value}
            error={value.trim() === '' ? undefined : errorOf(field, given(inputs.slice(0, index)).length)}
            onText={(text) => {
              setTyped({ ...typed, [field]: inputs.with(index, text) });
              edited(field);
            }}
          />
        ));
      })}
      <button type="submit" class="primary" disabled={changed.length === 0}>
        Save
      </button>
    </BusyForm>
  );
}
