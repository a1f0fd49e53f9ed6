import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { count } from '../format.js';
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
  return (
    <input
      class="search"
      type="search"
      aria-label={label}
      placeholder={label}
      aria-keyshortcuts="/ Meta+K Control+K"
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
  /** Values there are, with their counts. */
  suggestions?: readonly { value: string; count: number }[];
}

export function TextFilter({ name, label, type = 'text', placeholder, suggestions = [] }: TextFilterProps) {
  const { text, onInput } = useTypedParam(name, ['page']);
  const list = useId();
  // What is typed narrows the values to itself, or to none: those of before stay while it is edited.
  const [offered, setOffered] = useState(suggestions);
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type={type as 'text'}
        value={text}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        list={offered.length > 0 ? list : undefined}
        onFocus={() => suggestions.length > 0 && setOffered(suggestions)}
        onInput={onInput}
      />
      <datalist id={list}>
        {offered.map(({ value, count: contacts }) => (
          <option key={value} value={value}>
            {count(contacts)}
          </option>
        ))}
      </datalist>
    </label>
  );
}

interface SelectFilterProps {
  name: string;
  label: string;
  options: readonly (readonly [value: string, label: string])[];
  isInline?: boolean;
  /** Shown in place of the first option where nothing can be chosen. */
  fixed?: string;
}

export function SelectFilter({ name, label, options, isInline, fixed }: SelectFilterProps) {
  const isFixed = fixed !== undefined;
  const isOption = options.some(([value]) => value === param(name));
  return (
    <label class={isInline ? 'field inline' : 'field'}>
      <span>{label}</span>
      <select
        value={isFixed || !isOption ? '' : param(name)}
        disabled={isFixed}
        onChange={(event) => setParams({ [name]: event.currentTarget.value, page: null })}
      >
        {options.map(([value, text], index) => (
          <option key={value} value={value}>
            {isFixed && index === 0 ? fixed : text}
          </option>
        ))}
      </select>
    </label>
  );
}
