/** Undoes an import, after a question, because the deletion of contacts cannot be undone. */
import { useState } from 'preact/hooks';
import { undoImport } from '../imports.js';
import { missingScope, useSession } from '../session.js';
import { Unpermitted } from './states.js';

const QUESTION =
  'Delete the contacts that this import created and that nobody has changed since? People whom you had before keep what the import changed.';

export function UndoImportButton({ importId, onDone }: { importId: string; onDone?(): void }) {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const scope = missingScope('contacts:write');
  if (scope) return <Unpermitted scope={scope}>Undo</Unpermitted>;
  async function undo() {
    if (!confirm(QUESTION)) return;
    setBusy(true);
    const isDone = await session.perform('the import was undone', () => undoImport(session, importId));
    setBusy(false);
    if (isDone) onDone?.();
  }
  return (
    <button type="button" disabled={busy} aria-label={`Undo ${importId}`} onClick={() => void undo()}>
      Undo
    </button>
  );
}
