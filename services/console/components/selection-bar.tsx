/** Actions for the selected contacts. */
import { downloadContacts } from '../export.js';
import { count, plural } from '../format.js';
import { type AudienceName, changeMembers, targetOf } from '../memberships.js';
import type { Notice } from '../notice.js';
import type { Chosen } from '../selection.js';
import { missingScopeOf, useSession } from '../session.js';
import { AddToAudience, AUDIENCE_SCOPES } from './add-to-audience.js';
import { AudiencePicker } from './audience-picker.js';
import { ExportButton, Popover } from './toolbar.js';

interface SelectionBarProps {
  /** The selection of all matches. */
  everything: Chosen & { kind: 'all' };
}

export function SelectionBar({ everything }: SelectionBarProps) {
  const session = useSession();
  const { selection } = session;
  const chosen = selection.chosen.value;
  const total = selection.count.value;
  if (total === 0) return null;
  const scope = missingScopeOf(AUDIENCE_SCOPES);

  /** The selection may change while the action runs. */
  async function run(change: () => Promise<Notice>) {
    const { version } = selection;
    const isDone = await session.perform('the audience was changed', change);
    if (isDone && selection.version === version) selection.clear();
  }
  return (
    <section class="selection" aria-label="Selection" aria-keyshortcuts="a">
      <strong role="status">{plural(total, 'contact')} selected</strong>
      {chosen.kind === 'ids' && everything.total > selection.rows.value.length && (
        <button type="button" onClick={() => selection.choose(everything)}>
          Select all {count(everything.total)} that match
        </button>
      )}
      <div class="actions">
        <AddToAudience label="Add to audience" run={run}>
          {(picker) => picker(targetOf(chosen))}
        </AddToAudience>
        <Popover label="Remove from audience" needs={scope}>
          {(close) => (
            <AudiencePicker
              label="Remove from an audience"
              verb="Remove from"
              disabled={false}
              isOpen
              onPick={(audience: AudienceName) => {
                close();
                void run(() => changeMembers(session, 'remove', audience, targetOf(chosen)));
              }}
            />
          )}
        </Popover>
        {chosen.kind === 'all' ? (
          <ExportButton source={chosen.source} />
        ) : (
          <button type="button" onClick={() => downloadContacts(chosen.contacts)}>
            Export CSV
          </button>
        )}
        <button type="button" onClick={() => selection.clear()}>
          Clear
        </button>
      </div>
    </section>
  );
}
