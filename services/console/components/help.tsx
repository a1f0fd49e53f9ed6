import { useEffect, useRef } from 'preact/hooks';
import { helpOpen, KEYS } from '../keys.js';
import { Fact } from './fact.js';

/** Shows the keyboard shortcuts in a dialog that returns the focus when it closes. */
export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = helpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-label="Keys"
      onClose={() => {
        helpOpen.value = false;
      }}
    >
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([keys, meaning]) => (
          <Fact key={keys} label={<kbd>{keys}</kbd>}>
            {meaning}
          </Fact>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
