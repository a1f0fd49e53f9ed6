/** Forms and their fields. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Question before edited text is discarded. */
export const UNSAVED = 'Your changes are not saved. Discard them?';

interface FormProps {
  label?: string;
  class?: string;
  onSubmit(): unknown;
  children: ComponentChildren;
}

export function Form({ label, class: name = 'stack', onSubmit, children }: FormProps) {
  return (
    <form
      class={name}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

/** A form that accepts no input while its request runs. */
export function BusyForm({ onSubmit, children, ...form }: FormProps & { onSubmit(): Promise<unknown> }) {
  const [busy, setBusy] = useState(false);
  // A disabled field loses the focus.
  const focused = useRef<Element>(null);
  useEffect(() => {
    if (!busy && document.activeElement === document.body) (focused.current as HTMLElement | null)?.focus();
  }, [busy]);
  async function submit() {
    focused.current = document.activeElement;
    setBusy(true);
    await onSubmit();
    setBusy(false);
  }
  return (
    <Form {...form} onSubmit={() => void submit()}>
      <fieldset disabled={busy}>{children}</fieldset>
    </Form>
  );
}

interface TextFieldProps {
  label: string;
  value: string;
  onText(text: string): void;
  type?: 'text' | 'email' | 'password';
  name?: string;
  placeholder?: string;
  pattern?: string;
  required?: boolean;
  disabled?: boolean;
  spellcheck?: boolean;
}

export function TextField({ label, onText, type = 'text', ...input }: TextFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        autocomplete="off"
        type={type as 'text'}
        {...input}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </label>
  );
}
