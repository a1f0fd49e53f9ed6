import { useState } from 'preact/hooks';
import type { Contact } from '../../contacts/schema.js';
import { type FailureText, failureOf } from '../api.js';
import { minute } from '../format.js';
import { href } from '../router.js';
import { call, missingScope, organizationId } from '../session.js';
import { useRequest } from '../use-request.js';
import { Panel } from './panel.js';
import { Failure } from './states.js';
import { CurlButton } from './toolbar.js';

const PICKER_SIZE = 8;
/** Names of the audiences of a contact come with one request; beyond that their ids are shown. */
const NAMED_AUDIENCES = 200;

const FIELDS = [
  ['work_emails', 'Work email'],
  ['personal_emails', 'Personal email'],
  ['phones', 'Phone'],
  ['functional_area', 'Department'],
  ['company_name', 'Company'],
  ['company_domain', 'Domain'],
  ['company_industry', 'Industry'],
  ['city', 'City'],
  ['state_region', 'State or region'],
  ['country', 'Country'],
  ['postal_code', 'Postal code'],
  ['network_a_url', 'Profile'],
  ['gender', 'Gender'],
  ['age', 'Age'],
  ['created_at', 'Created'],
  ['updated_at', 'Updated'],
  ['contact_id', 'Id'],
] as const;

function textOf(contact: Contact, name: (typeof FIELDS)[number][0]): string {
  const value = contact[name];
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join(', ');
  return name.endsWith('_at') ? `${minute(String(value))} UTC` : String(value);
}

export function ContactCard({ contactId, closeHref }: { contactId: string; closeHref: string }) {
  const body = { organization_id: organizationId.value, contact_id: contactId };
  const { data, error, retry } = useRequest('/api/contacts/get', body);
  const [changed, setChanged] = useState<Contact>();
  const contact = changed ?? data?.contact;
  const name =
    contact && ([contact.first_name, contact.last_name].filter(Boolean).join(' ') || 'Without a name');
  return (
    <Panel label="Contact" closeHref={closeHref}>
      {error && <Failure error={error} retry={retry} />}
      {contact && (
        <>
          <h2>{name}</h2>
          <p class="lead">{[contact.job_title, contact.company_name].filter(Boolean).join(', ')}</p>
          <Memberships contact={contact} onChange={setChanged} />
          <dl>
            {FIELDS.filter(([field]) => textOf(contact, field) !== '').map(([field, label]) => (
              <div key={field}>
                <dt>{label}</dt>
                <dd>{textOf(contact, field)}</dd>
              </div>
            ))}
          </dl>
          <CurlButton url="/api/contacts/get" body={body} />
        </>
      )}
      {!contact && !error && <p class="note">Loading …</p>}
    </Panel>
  );
}

interface MembershipsProps {
  contact: Contact;
  onChange(contact: Contact): void;
}

function Memberships({ contact, onChange }: MembershipsProps) {
  const [query, setQuery] = useState('');
  const [error, setError] = useState<FailureText>();
  const [busy, setBusy] = useState(false);
  const cannotRead = missingScope('audiences:read');
  const cannotWrite = missingScope('audiences:write');
  const all = useRequest('/api/audiences/search', cannotRead ? null : { limit: NAMED_AUDIENCES });
  const found = useRequest(
    '/api/audiences/search',
    cannotRead || query.trim() === '' ? null : { query: query.trim(), limit: PICKER_SIZE },
  );
  const names = new Map(
    [...(all.data?.audiences ?? []), ...(found.data?.audiences ?? [])].map(({ id, name }) => [id, name]),
  );
  const offered = query.trim() === '' ? [] : (found.data?.audiences ?? []);

  async function change(audienceId: string, adds: boolean) {
    setBusy(true);
    setError(undefined);
    const membership = {
      organization_id: organizationId.value,
      audience_id: audienceId,
      contact_id: contact.contact_id,
    };
    try {
      if (adds) onChange((await call('/api/audiences/contacts/add', membership)).contact);
      else {
        await call('/api/audiences/contacts/remove', membership);
        onChange({ ...contact, audience_ids: contact.audience_ids.filter((id) => id !== audienceId) });
      }
      if (adds) setQuery('');
    } catch (reason) {
      setError(failureOf(reason));
    } finally {
      setBusy(false);
    }
  }

  return (
    <section aria-label="Audiences of the contact">
      <h3>Audiences</h3>
      {contact.audience_ids.length === 0 && <p class="note">In no audience.</p>}
      <ul class="chips">
        {contact.audience_ids.map((id) => (
          <li key={id}>
            <a href={href('/audiences', { audience: id })}>{names.get(id) ?? id}</a>
            <button
              type="button"
              aria-label={`Remove from ${names.get(id) ?? id}`}
              disabled={busy || cannotWrite !== null}
              onClick={() => void change(id, false)}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <label class="field">
        <span>Add to an audience</span>
        <input
          value={query}
          placeholder="Name of an audience"
          autocomplete="off"
          spellcheck={false}
          disabled={cannotRead !== null || cannotWrite !== null}
          aria-describedby="memberships-note"
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </label>
      <p class="note" id="memberships-note">
        {(cannotWrite ?? cannotRead) && (
          <>
            This key lacks the scope <code>{cannotWrite ?? cannotRead}</code>, so memberships cannot be
            changed.
          </>
        )}
        {query.trim() !== '' && found.data && offered.length === 0 && 'No audience matches.'}
      </p>
      <ul class="offers">
        {offered.map(({ id, name }) => (
          <li key={id}>
            <button
              type="button"
              disabled={busy || contact.audience_ids.includes(id)}
              onClick={() => void change(id, true)}
            >
              {contact.audience_ids.includes(id) ? `In ${name}` : `Add to ${name}`}
            </button>
          </li>
        ))}
      </ul>
      {error && <Failure error={error} />}
    </section>
  );
}
