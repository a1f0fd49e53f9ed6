import { useState } from 'preact/hooks';
import { useSession } from '../session.js';

/** Shows running jobs, and the last change with Undo. A notice stays until the next one, so nobody has to hurry. */
export function NoticeBar() {
  const [busy, setBusy] = useState(false);
  const session = useSession();
  const { notice, jobs } = session;
  const current = notice.value;
  async function undo() {
    if (!current?.undo) return;
    setBusy(true);
    await session.perform('it was undone', current.undo);
    setBusy(false);
  }
  return (
    <div class="notice-region">
      {jobs.value.length > 0 && (
        <section class="jobs" aria-label="Work in progress">
          {jobs.value.map((job) => (
            <div key={job.title} class="job">
              <span role="status">
                {job.title}: {job.progress}
              </span>
              <button type="button" aria-label={`Stop: ${job.title}`} onClick={job.stop}>
                Stop
              </button>
            </div>
          ))}
        </section>
      )}
      <div role="status">
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
    </div>
  );
}
