/** Adds contacts to an audience that is picked or named. */
import type { JSX } from 'preact';
import type { Scope } from '../../http/scopes.js';
import { count, plural } from '../format.js';
import { changeMembers, createAudienceOf, type Target } from '../memberships.js';
import type { Notice } from '../notice.js';
import { missingScopeOf, organizationId, useSession } from '../session.js';
import { useRequest } from '../use-request.js';
import { AudiencePicker } from './audience-picker.js';
import { Failed } from './states.js';
import { Popover } from './toolbar.js';

export const AUDIENCE_SCOPES: readonly Scope[] = ['audiences:read', 'audiences:write', 'contacts:read'];

/** Maximum number of domains in a request. */
export const MAX_DOMAINS = 1000;

interface AddToAudienceProps {
  label: string;
  /** Runs the change and shows its outcome; by default, `Session.perform`. */
  run?(change: () => Promise<Notice>): Promise<unknown>;
  /** Rendered while the popover is open, with a function that renders the picker for some contacts. */
  children(picker: (target: Target) => JSX.Element): JSX.Element;
}

export function AddToAudience({ label, run, children }: AddToAudienceProps) {
  const session = useSession();
  const perform = run ?? ((change) => session.perform('the audience was changed', change));
  return (
    <Popover label={label} needs={missingScopeOf(AUDIENCE_SCOPES)}>
      {(close) =>
        children((target) => (
          <AudiencePicker
            label="Add to an audience, or name a new one"
            verb="Add to"
            disabled={false}
            isOpen
            onPick={(audience) => {
              close();
              void perform(() => changeMembers(session, 'add', audience, target));
            }}
            onCreate={(name) => {
              close();
              void perform(() => createAudienceOf(session, name, target));
            }}
          />
        ))
      }
    </Popover>
  );
}

interface AddPeopleAtProps extends Pick<AddToAudienceProps, 'run'> {
  domains: readonly string[];
}

/** Adds the people known at these companies, in one request. */
export function AddPeopleAt({ domains, run }: AddPeopleAtProps) {
  return (
    <AddToAudience label="Add the people known there to an audience" run={run}>
      {(picker) => <PeopleAt domains={domains} picker={picker} />}
    </AddToAudience>
  );
}

function PeopleAt({ domains: all, picker }: AddPeopleAtProps & { picker(target: Target): JSX.Element }) {
  const domains = all.slice(0, MAX_DOMAINS);
  const filter = { company_domains: domains };
  const answer = useRequest('/api/contacts/search', {
    organization_id: organizationId.value,
    ...filter,
    limit: 1,
  });
  if (answer.state !== 'current')
    return answer.error ? <Failed what="The people" answer={answer} /> : <p class="note">Counting …</p>;
  const { total_count: total } = answer.data;
  const companies = plural(domains.length, 'company', 'companies');
  return (
    <>
      <p class="note">
        You know {total === 0 ? 'nobody' : plural(total, 'person', 'people')} at {companies}.
      </p>
      {all.length > MAX_DOMAINS && (
        <p class="note">
          These are the first {count(MAX_DOMAINS)} of the {count(all.length)} companies. Add the others
          afterwards.
        </p>
      )}
      {total > 0 && picker({ filter, total })}
    </>
  );
}
