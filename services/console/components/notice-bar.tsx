import { useState } from 'preact/hooks';
import { notice, perform } from '../notice.js';

/** Stays until the next one, so that nobody has to hurry. */
export function NoticeBar() {
  const [busy, setBusy] = useState(false);
  const current = notice.value;
  async function undo() {
    if (!current?.undo) return;
    setBusy(true);
    await perform(current.undo);
    setBusy(false);
  }
  return (
    <div class="notice-region" role="status">
      {current && (
        <div class={current.isFailure ? 'notice bad' : 'notice'}>
          <span>{current.text}</span>
          {current.undo && (
            <button
              type="button"
              aria-keyshortcuts="Meta+Z Control+Z"
              disabled={busy}
              onClick={() => void undo()}
            >
              Undo
            </button>
          )}
          <button
            type="button"
            aria-label="Dismiss"
            onClick={() => {
              notice.value = null;
            }}
          >
            ×
          </button>
        </div>
      )}
    </div>
  );
}
