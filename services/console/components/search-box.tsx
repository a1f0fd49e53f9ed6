import { useEffect, useRef, useState } from 'preact/hooks';
import { focusContent } from '../keys.js';
import { param, setParams, whileShown } from '../router.js';

const DEBOUNCE_MS = 120;

interface SearchBoxProps {
  label: string;
  /** Parameters that a new search resets, such as the page. */
  resets?: readonly string[];
}

/** Writes the query into the URL while it is typed, and follows changes of the URL. */
export function SearchBox({ label, resets = [] }: SearchBoxProps) {
  const value = param('query');
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
  const write = (next: string, set: typeof setParams) => {
    written.current = next.trim();
    set(
      { query: next.trim(), ...Object.fromEntries(resets.map((reset) => [reset, null])) },
      { replace: true },
    );
  };
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
      onKeyDown={(event) => {
        if (event.key !== 'ArrowDown') return;
        event.preventDefault();
        focusContent();
      }}
      onInput={(event) => {
        const next = event.currentTarget.value;
        setText(next);
        clearTimeout(timer.current);
        timer.current = setTimeout(write, DEBOUNCE_MS, next, whileShown('tab'));
      }}
    />
  );
}

interface SelectFilterProps {
  name: string;
  label: string;
  options: readonly (readonly [value: string, label: string])[];
  /** Shown instead of the first option if nothing can be chosen. */
  fixed?: string;
  /** The option in force, by default the one in the address. */
  value?: string;
}

export function SelectFilter({
  name,
  label,
  options,
  fixed,
  value: current = param(name),
}: SelectFilterProps) {
  const isFixed = fixed !== undefined;
  const isOption = options.some(([value]) => value === current);
  return (
    <label class="field inline">
      <span>{label}</span>
      <select
        value={isFixed || !isOption ? options[0]?.[0] : current}
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
