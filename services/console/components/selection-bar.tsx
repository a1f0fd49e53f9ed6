/** Actions for the selected contacts. */
import { useEffect } from 'preact/hooks';
import { downloadContacts } from '../export.js';
import { count, plural } from '../format.js';
import { focusSelection } from '../keys.js';
import { type AudienceName, changeMembers, targetOf } from '../memberships.js';
import type { Notice } from '../notice.js';
import type { Chosen } from '../selection.js';
import { missingScopeOf, useSession } from '../session.js';
import { AddToAudience, AUDIENCE_SCOPES } from './add-to-audience.js';
import { AudiencePicker } from './audience-picker.js';
import { ScopedButton } from './states.js';
import { ExportButton, Popover } from './toolbar.js';

interface SelectionBarProps {
  /** The audience whose members are listed. */
  audience?: AudienceName;
  /** The selection of all matches. */
  everything: Chosen & { kind: 'all' };
}

export function SelectionBar({ everything, audience }: SelectionBarProps) {
  const session = useSession();
  const { selection } = session;
  const chosen = selection.chosen.value;
  const total = selection.count.value;
  const isAll = chosen.kind === 'all';
  // The button that selected all is gone, and the focus with it.
  useEffect(() => {
    if (isAll && document.activeElement === document.body) focusSelection();
  }, [isAll]);
  if (total === 0) return null;

  /** The selection may change while the action runs. */
  async function run(change: () => Promise<Notice>) {
    const { version } = selection;
    const isDone = await session.perform('the audience was changed', change);
    if (isDone && selection.version === version) selection.clear();
  }
  const remove = (from: AudienceName) =>
    void run(() => changeMembers(session, 'remove', from, targetOf(chosen)));
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
        {audience ? (
          <ScopedButton scopes={AUDIENCE_SCOPES} onClick={() => remove(audience)}>
            Remove from this audience
          </ScopedButton>
        ) : (
          <Popover label="Remove from audience" needs={missingScopeOf(AUDIENCE_SCOPES)}>
            {(close) => (
              <AudiencePicker
                label="Remove from an audience"
                verb="Remove from"
                disabled={false}
                isOpen
                onPick={(picked) => {
                  close();
                  remove(picked);
                }}
              />
            )}
          </Popover>
        )}
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
