/** An audience: its facts, and its members in the list of contacts. */
import type { Audience } from '../../audiences/schema.js';
import { AUDIENCE_FLAGS, type AudienceFields, AudienceForm } from '../components/audience-form.js';
import { EditOrDelete } from '../components/edit-or-delete.js';
import { Fact } from '../components/fact.js';
import { Empty, NoPermission, ScopedLink, Trouble } from '../components/states.js';
import { CurlButton } from '../components/toolbar.js';
import { count, minute, NONE, plural } from '../format.js';
import { deleteAudience, MAX_IDS } from '../memberships.js';
import type { Notice } from '../notice.js';
import { href, param } from '../router.js';
import { missingScope, organizationId, type Session, useSession } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';
import { ContactList } from './contacts.js';

const PATH = '/api/audiences/get';

export function AudiencePage() {
  const scope = missingScope('audiences:read');
  const id = param('audience');
  if (scope) return <NoPermission scope={scope} what="audiences" />;
  if (id === '')
    return (
      <Empty>
        <p>There is no such audience.</p>
        <a href={href('/audiences')}>Go to the audiences</a>
      </Empty>
    );
  return <Members key={id} id={id} />;
}

function Members({ id }: { id: string }) {
  const body = { organization_id: organizationId.value, audience_id: id, include_counts: true };
  const answer = useRequest(PATH, body);
  const audience: Audience | undefined = shownOf(answer)?.data.audience;
  const head = (
    <>
      <div class="toolbar">
        <a class="button" href={href('/audiences')}>
          ← Audiences
        </a>
        <h1>{audience?.name ?? 'Audience'}</h1>
        <div class="actions">
          <ScopedLink href={href('/visits', { audience_id: id })} scopes={['visits:read']}>
            View visits
          </ScopedLink>
          <CurlButton url={PATH} body={body} />
        </div>
      </div>
      <Trouble answer={answer} />
      {audience && <Facts audience={audience} />}
    </>
  );
  // The list comes with the facts, so that it does not move when they arrive.
  if (!audience) return <div class="view">{head}</div>;
  return <ContactList audience={audience} head={head} />;
}

function Facts({ audience }: { audience: Audience }) {
  const session = useSession();
  const { member_count: members = 0 } = audience;
  // Undo adds the members again.
  const canUndo = members <= MAX_IDS && missingScope('contacts:read') === null;
  return (
    <section class="audience" aria-label="Audience">
      {audience.description && <p class="lead">{audience.description}</p>}
      <dl class="facts-row">
        <Fact label="Members">{count(members)}</Fact>
        <Fact label="Networks">
          {AUDIENCE_FLAGS.flatMap(([name, label]) => (audience[name] ? [label] : [])).join(', ') || NONE}
        </Fact>
        {audience.tracking_utm_value && <Fact label="UTM value">{audience.tracking_utm_value}</Fact>}
        <Fact label="Created (UTC)">{minute(audience.created_at)}</Fact>
        <Fact label="Id">{audience.id}</Fact>
      </dl>
      <div class="facts">
        <EditOrDelete
          noun="audience"
          scope="audiences:write"
          edit={(save) => (
            <AudienceForm
              audience={audience}
              submit="Save"
              onSubmit={(fields) => save(() => updateAudience(session, audience, fields))}
            />
          )}
          question={`Delete ${audience.name}? Its ${plural(members, 'member')} stay as contacts. ${canUndo ? 'You can undo it.' : 'This cannot be undone.'}`}
          onDelete={() => deleteAudience(session, audience)}
        />
      </div>
    </section>
  );
}

/** Changes fields, unless somebody else has changed the audience since. Undo restores the previous values. */
async function updateAudience(
  session: Session,
  before: Audience,
  fields: Partial<AudienceFields>,
  done = 'was saved',
): Promise<Notice> {
  const { audience } = await session.call('/api/audiences/update', {
    audience_id: before.id,
    if_updated_at: before.updated_at,
    ...fields,
  });
  const names = Object.keys(fields) as (keyof AudienceFields)[];
  const earlier = Object.fromEntries(names.map((name) => [name, before[name]]));
  return {
    text: `The audience ${audience.name} ${done}.`,
    undo: () => updateAudience(session, audience, earlier, 'is as before'),
  };
}
