/** The filters of a list: a button that adds them, with the values there are, and a chip for each in force. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RequestOf } from '../api.js';
import { count, isDate } from '../format.js';
import { param, setParams } from '../router.js';
import { useRequest } from '../use-request.js';
import { Form } from './form.js';
import { Popover } from './toolbar.js';

const DEBOUNCE_MS = 120;
const PATH = '/api/contacts/search';

type ContactFilters = RequestOf<typeof PATH>;
type FacetField = NonNullable<ContactFilters['facets']>[number];

export interface FilterField {
  /** Of the parameter of the address. */
  name: string;
  label: string;
  type?: 'text' | 'number' | 'date';
  placeholder?: string;
  /** The only values that it takes. */
  options?: readonly (readonly [value: string, label: string])[];
  /** Contacts are counted by its values: it takes beginnings of words, whole values, or only those there are. */
  facet?: 'words' | 'whole' | 'closed';
  /** In place of the value itself. */
  show?(value: string): ComponentChildren;
}

/** What the address says; empty where it is no value of the field. */
export function filterValue({ name, type, options }: FilterField): string {
  const value = param(name);
  const isValue =
    options?.some(([option]) => option === value) ??
    (type === 'date' ? isDate(value) : type !== 'number' || /^-?\d{1,9}$/.test(value));
  return isValue ? value : '';
}

const shown = ({ options, show }: FilterField, value: string): ComponentChildren =>
  options?.find(([option]) => option === value)?.[1] ?? show?.(value) ?? value;

/** The names of all fields, which NoMatch clears. */
export const namesOf = (fields: readonly FilterField[]) => fields.map(({ name }) => name);

interface FilterButtonProps {
  fields: readonly FilterField[];
  /** The filters in force, within which values are counted. */
  within?: ContactFilters;
}

export function FilterButton(props: FilterButtonProps) {
  return <Popover label="+ Filter">{(close) => <FilterForm {...props} close={close} />}</Popover>;
}

function FilterForm({ fields, within, close }: FilterButtonProps & { close(): void }) {
  const [field, setField] = useState(fields[0] as FilterField);
  const [typed, setTyped] = useState('');
  const select = useRef<HTMLSelectElement>(null);
  useEffect(() => select.current?.focus(), []);
  const values = useValues(field, typed.trim(), within);
  const apply = (value: string) => {
    setParams({ [field.name]: value, page: null });
    close();
  };
  const takesText = !field.options && field.facet !== 'closed';
  return (
    <Form onSubmit={() => takesText && apply(typed.trim())}>
      <div class="row">
        <select
          ref={select}
          aria-label="Field"
          value={field.name}
          onChange={(event) => {
            const next = fields.find(({ name }) => name === event.currentTarget.value) as FilterField;
            setField(next);
            setTyped('');
          }}
        >
          {fields.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
        {takesText && (
          <>
            <input
              type={(field.type ?? 'text') as 'text'}
              aria-label={field.label}
              placeholder={field.placeholder}
              autocomplete="off"
              spellcheck={false}
              maxLength={200}
              required
              pattern=".*\S.*"
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
            <button type="submit">Apply</button>
          </>
        )}
      </div>
      {values && (
        <ul class="offers values" aria-label={`Values of ${field.label}`}>
          {values.map(([value, label, contacts]) => (
            <li key={value}>
              <button type="button" aria-pressed={value === filterValue(field)} onClick={() => apply(value)}>
                <span>{label}</span>
                {contacts !== undefined && <span class="note">{count(contacts)}</span>}
              </button>
            </li>
          ))}
          {values.length === 0 && <li class="note">No value matches.</li>}
        </ul>
      )}
    </Form>
  );
}

type Value = readonly [value: string, label: ComponentChildren, contacts?: number];

/** The values that a field can be given, the most frequent first; undefined where they are not known. */
function useValues(field: FilterField, typed: string, within?: ContactFilters): readonly Value[] | undefined {
  const name = field.name as FacetField;
  const words = useSettled(field.facet === 'words' ? typed : '');
  const { data } = useRequest(
    PATH,
    within && field.facet
      ? { ...within, [name]: words === '' ? undefined : words, limit: 1, facets: [name] }
      : null,
  );
  if (field.options) return field.options;
  const begins = field.facet === 'whole' ? typed.toLowerCase() : '';
  return data?.facets?.[name]
    ?.filter(({ value }) => value.toLowerCase().startsWith(begins))
    .map(({ value, count: contacts }): Value => [value, shown(field, value), contacts]);
}

/** A text once it is typed. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(setSettled, DEBOUNCE_MS, text);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** How many rows there are, and which filters are in force: a row of one height, which scrolls sideways. */
export function FilterChips({
  fields,
  total,
}: {
  fields: readonly FilterField[];
  total: string | undefined;
}) {
  const set = fields.filter((field) => filterValue(field) !== '');
  const remove = (names: readonly string[]) => {
    // The button goes with its chip.
    document.querySelector<HTMLElement>('.toolbar > .popover summary')?.focus();
    setParams(Object.fromEntries([...names, 'page'].map((name) => [name, null])));
  };
  return (
    <div class="status-row">
      <output class="total">{total}</output>
      <ul class="chips" aria-label="Filters in force">
        {set.map((field) => (
          <li key={field.name}>
            <span>
              {field.label}: {shown(field, filterValue(field))}
            </span>
            <button type="button" aria-label={`Remove ${field.label}`} onClick={() => remove([field.name])}>
              ×
            </button>
          </li>
        ))}
      </ul>
      {set.length > 1 && (
        <button type="button" onClick={() => remove(namesOf(set))}>
          Clear
        </button>
      )}
    </div>
  );
}
