import { useEffect, useRef, useState } from 'preact/hooks';
import { param, setParams } from '../router.js';

const DEBOUNCE_MS = 120;

/** Writes a parameter of the address as it is typed, and follows it when the address changes. */
function useTypedParam(name: string, resets: readonly string[]) {
  const value = param(name);
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const written = useRef(value);
  useEffect(() => {
    if (value === written.current) return;
    clearTimeout(timer.current);
    written.current = value;
    setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const write = (next: string) => {
    written.current = next.trim();
    setParams(
      { [name]: next.trim(), ...Object.fromEntries(resets.map((reset) => [reset, null])) },
      { replace: true },
    );
  };
  return {
    text,
    onInput(event: Event) {
      const next = (event.currentTarget as HTMLInputElement).value;
      setText(next);
      clearTimeout(timer.current);
      timer.current = setTimeout(write, DEBOUNCE_MS, next);
    },
  };
}

interface SearchBoxProps {
  label: string;
  /** Parameters that a new search makes meaningless, such as the page. */
  resets?: readonly string[];
}

export function SearchBox({ label, resets = [] }: SearchBoxProps) {
  const { text, onInput } = useTypedParam('query', resets);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || (event.target as Element).closest('input, textarea, select')) return;
      event.preventDefault();
      box.current?.select();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  return (
    <input
      ref={box}
      class="search"
      type="search"
      aria-label={label}
      placeholder={label}
      aria-keyshortcuts="/"
      autocomplete="off"
      spellcheck={false}
      maxLength={200}
      value={text}
      onInput={onInput}
    />
  );
}

interface TextFilterProps {
  name: string;
  label: string;
  type?: 'text' | 'number' | 'date';
  placeholder?: string;
}

export function TextFilter({ name, label, type = 'text', placeholder }: TextFilterProps) {
  const { text, onInput } = useTypedParam(name, ['page']);
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type={type as 'text'}
        value={text}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={onInput}
      />
    </label>
  );
}

interface SelectFilterProps {
  name: string;
  label: string;
  options: readonly (readonly [value: string, label: string])[];
}

export function SelectFilter({ name, label, options }: SelectFilterProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select
        value={param(name)}
        onChange={(event) => setParams({ [name]: event.currentTarget.value, page: null })}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
