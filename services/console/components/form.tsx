/** Forms and their fields. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { WrongField } from '../api.js';

/** Question before edited text is discarded. */
export const UNSAVED = 'Your changes are not saved. Discard them?';

interface FormProps {
  label?: string;
  class?: string;
  /** Whether its request runs. Once it has ended, the focus moves to the first wrong field. */
  busy?: boolean;
  onSubmit(): unknown;
  children: ComponentChildren;
}

export function Form({ label, class: name = 'stack', busy = false, onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (!busy) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [busy]);
  return (
    <form
      ref={form}
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
    <Form {...form} busy={busy} onSubmit={() => void submit()}>
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
  /** What is wrong with the value, in words. */
  error?: string;
}

export function TextField({ label, onText, type = 'text', error, ...input }: TextFieldProps) {
  const id = useId();
  return (
    <>
      <label class="field">
        <span>{label}</span>
        <input
          autocomplete="off"
          type={type as 'text'}
          {...input}
          aria-invalid={error !== undefined}
          aria-describedby={error && id}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      </label>
      {error && (
        <p id={id} class="bad">
          {error}
        </p>
      )}
    </>
  );
}

/** What is wrong with the fields of a form, until they are edited. */
export function useWrongFields() {
  const [wrong, setWrong] = useState<readonly WrongField[]>([]);
  return {
    setWrong,
    errorOf: (name: string, index = 0) =>
      wrong.find((field) => field.name === name && field.index === index)?.text,
    edited: (name: string) => setWrong(wrong.filter((field) => field.name !== name)),
  };
}
