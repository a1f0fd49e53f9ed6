import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { Contact } from '../../contacts/schema.js';
import { classLabel, fullName, minute } from '../format.js';
import type { IngestAnswer } from '../import-file.js';
import { type AudienceName, audienceHref, changeMembership, createAudienceOf } from '../memberships.js';
import type { Notice } from '../notice.js';
import { href, whileShown } from '../router.js';
import { missingScope, organizationId, type Session, useSession } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';
import { seesCompanies } from '../view-scopes.js';
import { AudiencePicker } from './audience-picker.js';
import { ContactForm, updateContact } from './contact-form.js';
import { EditOrDelete } from './edit-or-delete.js';
import { Fact } from './fact.js';
import { Panel } from './panel.js';
import { Failed, Trouble } from './states.js';
import { CurlButton } from './toolbar.js';

/** One request gets up to this many audience names of a contact. For further audiences, the ids are shown. */
const NAMED_AUDIENCES = 200;

const FIELDS = [
  ['work_emails', 'Work email'],
  ['personal_emails', 'Personal email'],
  ['phones', 'Phone'],
  ['seniority', 'Seniority'],
  ['department', 'Department'],
  ['functional_area', 'Functional area'],
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

type Field = (typeof FIELDS)[number][0];

const asList = (value: Contact[Field]): string[] => [value ?? []].flat().map(String);

const LINKS: Partial<Record<Field, (text: string) => string | undefined>> = {
  work_emails: (email) => `mailto:${email}`,
  personal_emails: (email) => `mailto:${email}`,
  phones: (phone) => `tel:${phone.replaceAll(/[^+\d]/g, '')}`,
  seniority: (seniority) => href('/contacts', { seniority }),
  department: (department) => href('/contacts', { department }),
  company_name: (name) => href('/contacts', { company_name: name }),
  company_domain: (domain) => (seesCompanies() ? href('/companies/company', { domain }) : undefined),
  network_a_url: (url) => (/^https?:\/\//.test(url) ? url : undefined),
};

function Value({ contact, field }: { contact: Contact; field: Field }) {
  const texts = asList(contact[field]);
  if (field.endsWith('_at')) return <>{`${minute(texts.join())} UTC`}</>;
  const isClass = field === 'seniority' || field === 'department';
  return (
    <>
      {texts.map((text, index) => {
        const to = LINKS[field]?.(text);
        return (
          <Fragment key={text}>
            {index > 0 && ', '}
            {to === undefined ? (
              text
            ) : (
              <a href={to} rel="noreferrer" target={to.startsWith('http') ? '_blank' : undefined}>
                {isClass ? classLabel(text) : text}
              </a>
            )}
          </Fragment>
        );
      })}
    </>
  );
}

export function ContactCard({ contactId, closeHref }: { contactId: string; closeHref: string }) {
  const session = useSession();
  const body = { organization_id: organizationId.value, contact_id: contactId };
  const answer = useRequest('/api/contacts/get', body);
  const contact = shownOf(answer)?.data.contact;
  return (
    <Panel label="Contact" closeHref={closeHref}>
      <Trouble answer={answer} />
      {contact && (
        <>
          <h2>{fullName(contact)}</h2>
          <p class="lead">{[contact.job_title, contact.company_name].filter(Boolean).join(', ')}</p>
          <EditOrDelete
            noun="contact"
            scope="contacts:write"
            edit={(save) => (
              <ContactForm
                contact={contact}
                onSubmit={(fields) => save(() => updateContact(session, contact, fields))}
              />
            )}
            question={`Delete ${fullName(contact)}? ${missingScope('ingest:write') ? 'This cannot be undone.' : 'You can undo it.'}`}
            onDelete={() => deleteContact(session, contact)}
          />
          <Memberships contact={contact} />
          <dl>
            {FIELDS.filter(([field]) => asList(contact[field]).length > 0).map(([field, label]) => (
              <Fact key={field} label={label}>
                <Value contact={contact} field={field} />
              </Fact>
            ))}
          </dl>
          <CurlButton url="/api/contacts/get" body={body} />
        </>
      )}
      {answer.state === 'none' && <p class="note">Loading …</p>}
    </Panel>
  );
}

async function deleteContact(session: Session, { contact_id, ...shown }: Contact): Promise<Notice> {
  const settle = whileShown('contact');
  const answer = await session.call('/api/contacts/delete', { contact_id, return_deleted: true });
  settle({ contact: null });
  if (!answer.deleted) return { text: `${fullName(shown)} was deleted already.` };
  // The contact as the server had it, which may be newer than the contact shown.
  const [deleted] = answer.deleted_contacts ?? [];
  const canUndo = deleted !== undefined && !session.missingScope('ingest:write');
  return {
    text: `${fullName(deleted ?? shown)} was deleted.`,
    undo: canUndo ? () => bringBack(session, deleted) : undefined,
  };
}

/** Sends the contact as a record newer than the deletion. It costs no credits, and keeps its id, time of creation and audiences. */
async function bringBack(session: Session, deleted: Contact): Promise<Notice> {
  const { id: _, updated_at: __, seniority: ___, department: ____, ...record } = deleted;
  const name = fullName(record);
  const failed = (text: string): Notice => ({ text: `${name} ${text}`, isFailure: true });
  const WRITTEN_AGAIN = 'was created again meanwhile, and is left unchanged.';
  // A record written since the deletion is more current, and sending ours would overwrite it.
  if (await exists(session, record.contact_id)) return failed(WRITTEN_AGAIN);
  const { rejected, suppressed, stale, errors } = await session.send<IngestAnswer>({
    method: 'POST',
    path: '/api/ingest/contacts',
    query: { on_duplicate: 'reject' },
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: JSON.stringify(record),
  });
  if (suppressed > 0) return failed('was erased meanwhile, and cannot be restored.');
  if (stale > 0) return failed(WRITTEN_AGAIN);
  if (rejected > 0) {
    const [error] = errors;
    const isThere = error?.code === 'contact_exists' || error?.code === 'ambiguous_person';
    return failed(
      isThere
        ? 'stays deleted: another contact now has the same work email or profile.'
        : `was not restored: ${error?.detail ?? 'rejected.'}`,
    );
  }
  // With Kafka, a worker writes the record later.
  return (await exists(session, record.contact_id))
    ? { text: `${name} is back.` }
    : { text: `${name} was sent, and is back once the record has been written.` };
}

async function exists(session: Session, contact_id: string): Promise<boolean> {
  const { missing } = await session.call('/api/contacts/get-many', { contact_ids: [contact_id] });
  return missing.length === 0;
}

function Memberships({ contact }: { contact: Contact }) {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const cannotRead = missingScope('audiences:read');
  const cannotWrite = missingScope('audiences:write');
  const all = useRequest('/api/audiences/search', cannotRead ? null : { limit: NAMED_AUDIENCES });
  const [picked, setPicked] = useState<AudienceName>();
  const names = new Map(
    [...(shownOf(all)?.data.audiences ?? []), ...(picked ? [picked] : [])].map(({ id, name }) => [id, name]),
  );
  const nameOf = (id: string) => names.get(id) ?? id;

  async function run(change: () => Promise<Notice>) {
    setBusy(true);
    await session.perform('the audience was changed', change);
    setBusy(false);
  }
  function change(direction: 'add' | 'remove', audience: AudienceName) {
    setPicked(audience);
    return run(() => changeMembership(session, direction, audience, contact.contact_id));
  }

  return (
    <section aria-label="Audiences of the contact">
      <h3>Audiences</h3>
      <Failed what="The names of the audiences" answer={all} />
      {contact.audience_ids.length === 0 && <p class="note">In no audience.</p>}
      <ul class="chips">
        {contact.audience_ids.map((id) => (
          <li key={id}>
            <a href={audienceHref(id)}>{nameOf(id)}</a>
            <button
              type="button"
              aria-label={`Remove from ${nameOf(id)}`}
              disabled={busy || cannotWrite !== null}
              onClick={() => void change('remove', { id, name: nameOf(id) })}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <AudiencePicker
        label="Add to an audience"
        verb="Add to"
        disabled={busy || (cannotRead ?? cannotWrite) !== null}
        except={contact.audience_ids}
        onPick={(audience) => void change('add', audience)}
        onCreate={(name) => void run(() => createAudienceOf(session, name, { ids: [contact.contact_id] }))}
      />
      {(cannotWrite ?? cannotRead) && (
        <p class="note">
          This key lacks the scope <code>{cannotWrite ?? cannotRead}</code>, so memberships cannot be changed.
        </p>
      )}
    </section>
  );
}
