/** What can be done with the chosen contacts. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { downloadContacts, type ExportSource } from '../export.js';
import { count, plural } from '../format.js';
import {
  type AudienceName,
  type Chosen,
  changeMembers,
  createAudienceOf,
  type Work,
} from '../memberships.js';
import { type Notice, perform } from '../notice.js';
import { chosenContacts, chosenCount, clearSelection, isEverything, loaded } from '../selection.js';
import { missingScopeOf } from '../session.js';
import { AudiencePicker } from './audience-picker.js';
import { ExportButton, Popover } from './toolbar.js';

interface SelectionBarProps {
  /** All that match. */
  everything: Chosen & { kind: 'all' };
  source: ExportSource;
}

export function SelectionBar({ everything, source }: SelectionBarProps) {
  const [done, setDone] = useState<number>();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const chosen = isEverything.value ? everything : chosenContacts();
  const total = isEverything.value ? everything.total : chosenCount.value;
  if (total === 0) return null;
  const scope = missingScopeOf(['audiences:read', 'audiences:write', 'contacts:read']);

  async function run(change: (work: Work) => Promise<Notice>) {
    abort.current = new AbortController();
    setDone(0);
    const work = { signal: abort.current.signal, onProgress: setDone };
    if (await perform(() => change(work))) clearSelection();
    setDone(undefined);
  }
  const picker = (direction: 'add' | 'remove') => ({
    disabled: done !== undefined,
    isOpen: true,
    onPick: (audience: AudienceName) => void run((work) => changeMembers(direction, audience, chosen, work)),
  });

  return (
    <section class="selection" aria-label="Selection" aria-keyshortcuts="a">
      <strong role="status">
        {done === undefined
          ? `${plural(total, 'contact')} selected`
          : `${count(done)} of ${plural(total, 'contact')} …`}
      </strong>
      {done !== undefined && (
        <button type="button" onClick={() => abort.current.abort()}>
          Stop
        </button>
      )}
      {!isEverything.value && everything.total > loaded.value.length && (
        <button
          type="button"
          onClick={() => {
            isEverything.value = true;
          }}
        >
          Select all {count(everything.total)} that match
        </button>
      )}
      <div class="actions">
        <Popover label="Add to audience" needs={scope}>
          <AudiencePicker
            label="Add to an audience, or name a new one"
            verb="Add to"
            {...picker('add')}
            onCreate={(name) => void run((work) => createAudienceOf(name, chosen, work))}
          />
        </Popover>
        <Popover label="Remove from audience" needs={scope}>
          <AudiencePicker label="Remove from an audience" verb="Remove from" {...picker('remove')} />
        </Popover>
        {chosen.kind === 'all' ? (
          <ExportButton source={source} />
        ) : (
          <button type="button" onClick={() => downloadContacts(chosen.contacts)}>
            Export CSV
          </button>
        )}
        <button type="button" onClick={clearSelection}>
          Clear
        </button>
      </div>
    </section>
  );
}
