import { useState } from 'preact/hooks';
import { randomKey } from '../../client/client.js';
import type { CreateContactRequest } from '../../contacts/schema.js';
import { type FailureText, failureOf, type ResponseOf } from '../api.js';
import { fullName, plural } from '../format.js';
import { type AudienceName, changeMembership } from '../memberships.js';
import { href, useLoss, whileShown } from '../router.js';
import { missingScope, organizationId, useSession } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';
import { Form, TextField, UNSAVED } from './form.js';
import { Panel } from './panel.js';
import { Failed, Failure, ScopedLink } from './states.js';

const MAX_AUDIENCES = 200;
const FIELDS = [
  ['first_name', 'First name'],
  ['last_name', 'Last name'],
  ['job_title', 'Job title'],
  ['company_name', 'Company'],
  ['company_domain', 'Domain'],
  ['city', 'City'],
  ['country', 'Country'],
] as const;

type Entered = Record<(typeof FIELDS)[number][0] | 'email' | 'audience', string>;
type Created = ResponseOf<'/api/contacts/create'>;

interface CreateContactProps {
  /** The audience that is chosen at first. */
  audience?: AudienceName;
  closeHref: string;
}

/** Shows price and duplicates from a dry run before credits are spent. */
export function CreateContact({ audience, closeHref }: CreateContactProps) {
  const session = useSession();
  const [form, setForm] = useState({ email: '', audience: audience?.id ?? '' } as Entered);
  const [checked, setChecked] = useState<Created>();
  /** One key per check, so that a second click creates nothing. */
  const [idempotencyKey, setIdempotencyKey] = useState('');
  const [error, setError] = useState<FailureText>();
  const [busy, setBusy] = useState(false);
  const scope = missingScope('contacts:write') ?? missingScope('audiences:read');
  const audiences = useRequest('/api/audiences/search', scope ? null : { limit: MAX_AUDIENCES });

  useLoss(Object.values({ ...form, audience: '' }).some((text) => text !== '') ? UNSAVED : null);

  const offered = shownOf(audiences)?.data;
  const listed: readonly AudienceName[] = offered?.audiences ?? [];
  const choices = audience && !listed.some(({ id }) => id === audience.id) ? [audience, ...listed] : listed;
  const audienceName = choices.find(({ id }) => id === form.audience)?.name ?? '';

  const errorOf = (name: string) => error?.fields?.find((field) => field.name === name)?.text;
  const change = (name: keyof Entered) => (text: string) => {
    setForm({ ...form, [name]: text });
    setChecked(undefined);
    setError(undefined);
  };
  function body(): CreateContactRequest {
    const { email, audience, ...fields } = form;
    return {
      organization_id: organizationId.value,
      audience_id: audience,
      ...fields,
      ...(email.trim() === '' ? {} : { work_emails: [email.trim()] }),
    };
  }
  async function send(dryRun: boolean) {
    const goOn = whileShown('new', 'contact');
    setBusy(true);
    setError(undefined);
    try {
      const options = dryRun ? { query: { dry_run: true } } : { idempotencyKey };
      const answer = await session.call('/api/contacts/create', body(), options);
      if (dryRun) {
        setChecked(answer);
        setIdempotencyKey(randomKey());
      } else {
        // Makes the list read the new contact.
        session.writes.value++;
        goOn({ new: null, contact: answer.contact_id });
      }
    } catch (reason) {
      setError(failureOf(reason));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Panel label="New contact" closeHref={closeHref}>
      <h2>New contact</h2>
      {scope && (
        <p class="note">
          This key lacks the scope <code>{scope}</code>, so it cannot create contacts.
        </p>
      )}
      <Form busy={busy} onSubmit={() => void send(checked === undefined)}>
        <fieldset disabled={scope !== null || busy} class="stack">
          <Failed what="The audiences" answer={audiences} />
          <label class="field">
            <span>Audience</span>
            <select
              required
              value={form.audience}
              onChange={(event) => change('audience')(event.currentTarget.value)}
            >
              <option value="">Choose one</option>
              {choices.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          {offered?.total_count === 0 && (
            <div class="warnings">
              <p>A contact is created in an audience, and there is none yet.</p>
              <ScopedLink href={href('/audiences', { new: true })} scopes={['audiences:write']}>
                New audience
              </ScopedLink>
            </div>
          )}
          {(offered?.total_count ?? 0) > MAX_AUDIENCES && (
            <p class="note">
              The newest {MAX_AUDIENCES} are listed. To add the contact to another audience, open its card
              later.
            </p>
          )}
          {FIELDS.map(([name, label]) => (
            <TextField
              key={name}
              label={label}
              value={form[name] ?? ''}
              error={errorOf(name)}
              onText={change(name)}
            />
          ))}
          <TextField
            label="Work email"
            type="email"
            value={form.email}
            error={errorOf('work_emails')}
            onText={change('email')}
          />
          {checked && <Price checked={checked} audience={{ id: form.audience, name: audienceName }} />}
          <button type="submit" class="primary">
            {checked ? 'Create' : 'Check price and duplicates'}
          </button>
        </fieldset>
      </Form>
      {error && <Failure error={error} />}
    </Panel>
  );
}

interface PriceProps {
  checked: Created;
  audience: AudienceName;
}

function Price({ checked, audience }: PriceProps) {
  const session = useSession();
  const { credits_consumed: price, credit_balance: balance, duplicates = [] } = checked;
  const found = useRequest(
    '/api/contacts/get-many',
    duplicates.length === 0 ? null : { contact_ids: duplicates },
  );
  async function addInstead(contactId: string) {
    const goOn = whileShown('new', 'contact');
    if (
      await session.perform('the contact was added', () =>
        changeMembership(session, 'add', audience, contactId),
      )
    )
      goOn({ new: null, contact: contactId });
  }
  return (
    <div class="warnings" role="status">
      <p>
        {price === null
          ? 'This costs nothing: the organization is not metered.'
          : `This costs ${plural(price, 'credit')}${balance === null ? '' : `, which leaves ${plural(balance, 'credit')}`}.`}
      </p>
      {duplicates.length === 0 ? <p>No duplicate was found.</p> : <p>Possible duplicates:</p>}
      <Failed what="The possible duplicates" answer={found} />
      {shownOf(found)?.data.contacts.map((contact) => (
        <p key={contact.contact_id} class="row">
          <a href={href('/contacts', { contact: contact.contact_id })}>
            {[fullName(contact), contact.company_name].filter(Boolean).join(', ')}
          </a>
          <button type="button" onClick={() => void addInstead(contact.contact_id)}>
            Add this one instead
          </button>
        </p>
      ))}
    </div>
  );
}
