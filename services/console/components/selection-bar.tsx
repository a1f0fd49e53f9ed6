/** Actions for the selected contacts. */
import { downloadContacts } from '../export.js';
import { count, plural } from '../format.js';
import { type AudienceName, changeMembers, createAudienceOf } from '../memberships.js';
import type { Notice } from '../notice.js';
import type { Chosen } from '../selection.js';
import { missingScopeOf, useSession } from '../session.js';
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
  const scope = missingScopeOf(['audiences:read', 'audiences:write', 'contacts:read']);

  /** The selection may change while the action runs. */
  async function run(change: () => Promise<Notice>) {
    const { version } = selection;
    const isDone = await session.perform('the audience was changed', change);
    if (isDone && selection.version === version) selection.clear();
  }
  const picker = (direction: 'add' | 'remove', close: () => void) => ({
    disabled: false,
    isOpen: true,
    onPick(audience: AudienceName) {
      close();
      void run(() => changeMembers(session, direction, audience, chosen));
    },
  });

  return (
    <section class="selection" aria-label="Selection" aria-keyshortcuts="a">
      <strong role="status">{plural(total, 'contact')} selected</strong>
      {chosen.kind === 'ids' && everything.total > selection.rows.value.length && (
        <button type="button" onClick={() => selection.choose(everything)}>
          Select all {count(everything.total)} that match
        </button>
      )}
      <div class="actions">
        <Popover label="Add to audience" needs={scope}>
          {(close) => (
            <AudiencePicker
              label="Add to an audience, or name a new one"
              verb="Add to"
              {...picker('add', close)}
              onCreate={(name) => {
                close();
                void run(() => createAudienceOf(session, name, chosen));
              }}
            />
          )}
        </Popover>
        <Popover label="Remove from audience" needs={scope}>
          {(close) => (
            <AudiencePicker label="Remove from an audience" verb="Remove from" {...picker('remove', close)} />
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
