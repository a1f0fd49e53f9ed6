import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Scope } from '../../http/scopes.js';
import { type Notice, perform } from '../notice.js';
import { ScopedButton } from './states.js';

interface EditOrDeleteProps {
  noun: string;
  scope: Scope;
  /** The form, which closes once `save` has succeeded. */
  edit(save: (change: () => Promise<Notice>) => Promise<void>): JSX.Element;
  /** Asked before it is deleted, and whether that can be undone. */
  question: ComponentChildren;
  onDelete(): Promise<Notice>;
}

export function EditOrDelete({ noun, scope, edit, question, onDelete }: EditOrDeleteProps) {
  const [mode, setMode] = useState<'show' | 'edit' | 'delete'>('show');
  const buttons = useRef<HTMLDivElement>(null);
  const toggle = (next: typeof mode) => () => setMode(mode === next ? 'show' : next);
  return (
    <>
      <div class="row" ref={buttons}>
        <ScopedButton scopes={[scope]} onClick={toggle('edit')}>
          Edit
        </ScopedButton>
        <ScopedButton scopes={[scope]} onClick={toggle('delete')}>
          Delete
        </ScopedButton>
      </div>
      {mode === 'edit' &&
        edit(async (change) => {
          if (!(await perform(change))) return;
          setMode('show');
          // Where the form was opened from.
          buttons.current?.querySelector('button')?.focus();
        })}
      {mode === 'delete' && (
        <div class="warnings">
          <p>{question}</p>
          <div class="row">
            <button type="button" onClick={() => void perform(onDelete)}>
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
