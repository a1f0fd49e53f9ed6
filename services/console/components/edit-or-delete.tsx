import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Scope } from '../../http/scopes.js';
import type { Notice } from '../notice.js';
import { mayLose } from '../router.js';
import { useSession } from '../session.js';
import { ScopedButton } from './states.js';

interface EditOrDeleteProps {
  noun: string;
  scope: Scope;
  /** Renders the form, which closes once `save` has succeeded. */
  edit(save: (change: () => Promise<Notice>) => Promise<void>): JSX.Element;
  /** Question before deletion. It says whether the deletion can be undone. */
  question: ComponentChildren;
  onDelete(): Promise<Notice>;
}

export function EditOrDelete({ noun, scope, edit, question, onDelete }: EditOrDeleteProps) {
  const [mode, setMode] = useState<'show' | 'edit' | 'delete'>('show');
  const session = useSession();
  const row = useRef<HTMLDivElement>(null);
  const toggle = (next: typeof mode) => () => {
    if (mayLose()) setMode(mode === next ? 'show' : next);
  };
  async function save(change: () => Promise<Notice>) {
    if (!(await session.perform(`the ${noun} was saved`, change))) return;
    setMode('show');
    // The focused button disappears with the form.
    row.current?.querySelector('button')?.focus();
  }
  return (
    <>
      <div class="row" ref={row}>
        <ScopedButton scopes={[scope]} onClick={toggle('edit')}>
          Edit
        </ScopedButton>
        <ScopedButton scopes={[scope]} onClick={toggle('delete')}>
          Delete
        </ScopedButton>
      </div>
      {mode === 'edit' && edit(save)}
      {mode === 'delete' && (
        <div class="warnings">
          <p>{question}</p>
          <div class="row">
            <button type="button" onClick={() => void session.perform(`the ${noun} was deleted`, onDelete)}>
              Delete the {noun}
            </button>
            <button type="button" onClick={toggle('delete')}>
              Keep it
            </button>
          </div>
        </div>
      )}
    </>
  );
}
