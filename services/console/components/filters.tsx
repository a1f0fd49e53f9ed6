/** Filters of a list: a button to add a filter, with suggested values, and a chip for each active filter. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { OperationPath, RequestOf } from '../api.js';
import { count, isDate } from '../format.js';
import { param, setParams } from '../router.js';
import { missingScope } from '../session.js';
import { type Answer, shownOf, useRequest } from '../use-request.js';
import { Form } from './form.js';
import { Failed } from './states.js';
import { Popover } from './toolbar.js';

const DEBOUNCE_MS = 120;
const PATH = '/api/contacts/search';

type ContactFilters = RequestOf<typeof PATH>;
type FacetField = NonNullable<ContactFilters['facets']>[number];

export interface FilterField {
  /** Name of the URL parameter. */
  name: string;
  label: string;
  type?: 'text' | 'number' | 'date';
  placeholder?: string;
  /** The allowed values. Other values are ignored. */
  options?: readonly (readonly [value: string, label: string])[];
  /**
   * Suggests values by number of contacts: by the beginnings of words, by whole values, or only existing values. With `audiences`, the
   * values are ids of audiences, found by name.
   */
  facet?: 'words' | 'whole' | 'closed' | 'audiences';
  /** Renders the value for people. */
  show?(value: string): ComponentChildren;
  /**
   * With `any`, the field may have several values, of which one must match, and excluded values. With `all`, each of its values must match.
   */
  values?: 'any' | 'all';
}

/** Parameters of excluded values begin with this. */
export const NOT = 'not.';
const isNegatable = ({ values }: FilterField) => values === 'any';
/** Several values of a parameter, one a line. */
export const valuesIn = (text: string): string[] => text.split('\n').filter((value) => value !== '');

/** The value in the URL; empty if it is invalid for the field. */
export function filterValue({ name, type, options, values }: FilterField, prefix = ''): string {
  const value = param(prefix + name);
  const isValue =
    options === undefined
      ? type !== 'date' || isDate(value)
      : (values ? valuesIn(value) : [value]).every((each) => options.some(([option]) => option === each));
  return isValue ? value : '';
}

const shown = ({ options, show }: FilterField, value: string): ComponentChildren =>
  options?.find(([option]) => option === value)?.[1] ?? show?.(value) ?? value;

/** The parameter names of all fields, which NoMatch clears. */
export const namesOf = (fields: readonly FilterField[]) =>
  fields.flatMap((field) => (isNegatable(field) ? [field.name, NOT + field.name] : [field.name]));

interface FilterButtonProps {
  fields: readonly FilterField[];
  /** The active filters without a field; counts of suggested values include only contacts that match them. */
  within?(field: string): ContactFilters;
}

export function FilterButton(props: FilterButtonProps) {
  return <Popover label="+ Filter">{(close) => <FilterForm {...props} close={close} />}</Popover>;
}

function FilterForm({ fields, within, close }: FilterButtonProps & { close(): void }) {
  const [field, setField] = useState(fields[0] as FilterField);
  const [typed, setTyped] = useState('');
  const offered = fields.filter(
    ({ facet }) => facet !== 'audiences' || missingScope('audiences:read') === null,
  );
  const select = useRef<HTMLSelectElement>(null);
  useEffect(() => select.current?.focus(), []);
  const [values, counted] = useValues(field, typed.trim(), within);
  const [condition, setCondition] = useState<Condition>('is');
  const names = namesOf([field]);
  const prefix = condition === 'is not' ? NOT : '';
  const chosen = valuesIn(filterValue(field, prefix));
  const isMany = field.values === 'all' || condition !== 'is';
  const apply = (value: string) => {
    const others = chosen.filter((each) => each !== value);
    const next = !isMany ? [value] : others.length < chosen.length ? others : [...chosen, value];
    setParams({ [prefix + field.name]: next.join('\n'), page: null });
    setTyped('');
    if (!isMany) close();
  };
  const { any_of, none_of } = (isMany && within?.(field.name)) || {};
  const isFull =
    field.values === 'any' &&
    (condition === 'is not'
      ? chosen.length + (none_of?.length ?? 0) >= MAX_FILTERS
      : isMany && (chosen.length + 1) * (any_of?.length ?? 1) > MAX_FILTERS);
  const takesText = !field.options && field.facet !== 'closed';
  const text = typed.trim();
  // An audience is meant by its whole name.
  const named = field.facet === 'audiences' ? values?.filter(([, label]) => isSame(label, text)) : [[text]];
  const [meant] = named?.length === 1 ? (named[0] ?? []) : [];
  /** Takes the text. Without text, the values that were chosen stay. */
  function submit() {
    if (text === '') close();
    else if (meant !== undefined) apply(meant);
  }
  return (
    <Form onSubmit={submit}>
      <div class="row wraps">
        <select
          ref={select}
          aria-label="Field"
          value={field.name}
          onChange={(event) => {
            const next = fields.find(({ name }) => name === event.currentTarget.value) as FilterField;
            setField(next);
            setTyped('');
            setCondition('is');
          }}
        >
          {offered.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
        {names.length > 1 && (
          <select
            aria-label="Condition"
            value={condition}
            onChange={(event) => setCondition(event.currentTarget.value as Condition)}
          >
            {CONDITIONS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        )}
        {takesText && (
          <input
            type={(field.type ?? 'text') as 'text'}
            aria-label={field.label}
            placeholder={field.placeholder}
            autocomplete="off"
            spellcheck={false}
            maxLength={200}
            required={!isMany || chosen.length === 0}
            pattern=".*\S.*"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        {(takesText || isMany) && (
          <button
            type="submit"
            disabled={text !== '' && (meant === undefined || (isFull && !chosen.includes(meant)))}
          >
            Apply
          </button>
        )}
      </div>
      {isFull && (
        <p class="note">At most {MAX_FILTERS} values, or combinations of values of several fields.</p>
      )}
      <Failed what="The values" answer={counted} />
      {values && (
        <ul class="offers values" aria-label={`Values of ${field.label}`}>
          {values.map(([value, label, contacts]) => (
            <li key={value}>
              <button
                type="button"
                disabled={isFull && !chosen.includes(value)}
                aria-pressed={chosen.includes(value)}
                onClick={() => apply(value)}
              >
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

/** Maximum filters of `any_of`, and of `none_of`. */
const MAX_FILTERS = 10;

const CONDITIONS = ['is', 'is any of', 'is not'] as const;
type Condition = (typeof CONDITIONS)[number];

/** Audiences that are offered at a time. */
const MAX_AUDIENCES = 20;

const isSame = (label: ComponentChildren, text: string) =>
  typeof label === 'string' && label.toLowerCase() === text.toLowerCase();

type Value = readonly [value: string, label: ComponentChildren, contacts?: number];

/** Suggested values for a field, most frequent first; undefined if unknown. */
function useValues(
  field: FilterField,
  typed: string,
  within?: FilterButtonProps['within'],
): [values: readonly Value[] | undefined, counted: Pick<Answer<OperationPath>, 'state' | 'error' | 'retry'>] {
  const name = field.name as FacetField;
  const isAudience = field.facet === 'audiences';
  const words = useSettled(field.facet === 'words' || isAudience ? typed : '');
  const audiences = useRequest(
    '/api/audiences/search',
    isAudience ? { ...(words !== '' && { query: words }), include_counts: true, limit: MAX_AUDIENCES } : null,
  );
  const counted = useRequest(
    PATH,
    within && field.facet && !isAudience
      ? { ...within(name), ...(words !== '' && { [name]: words }), limit: 1, facets: [name] }
      : null,
  );
  if (field.options) return [field.options, counted];
  if (isAudience) {
    const found = shownOf(audiences)?.data.audiences;
    return [found?.map(({ id, name, member_count }): Value => [id, name, member_count]), audiences];
  }
  const begins = field.facet === 'whole' ? typed.toLowerCase() : '';
  // While another letter is typed, the previous suggestions stay if the filters are the same.
  const { data } = shownOf(counted) ?? {};
  const values = data?.facets?.[name]
    ?.filter(({ value }) => value.toLowerCase().startsWith(begins))
    .map(({ value, count: contacts }): Value => [value, shown(field, value), contacts]);
  return [counted.error ? undefined : values, counted];
}

/** The text, delayed until typing pauses. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(setSettled, DEBOUNCE_MS, text);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Filter values by name. */
export type FilterValues = Readonly<Record<string, unknown>>;

interface FilterChipsProps {
  fields: readonly FilterField[];
  /** Filters of the response shown below; undefined if none is shown. */
  shown: FilterValues | undefined;
  total: string | undefined;
}

/** A chip shows so many values, so that its button stays in sight. */
const VALUES_IN_CHIP = 3;

/**
 * Shows the number of rows and the filters that they match, in one line that scrolls sideways. A filter without a response yet is dimmed.
 */
export function FilterChips({ fields, shown: values, total }: FilterChipsProps) {
  const chips = fields.flatMap((field) =>
    namesOf([field]).flatMap((name) => {
      const isNot = name !== field.name;
      const asked = filterValue(field, isNot ? NOT : '');
      const value = values ? String(values[name] ?? '') : asked;
      const label = isNot ? `${field.label} is not` : field.label;
      return [
        { field, name, label, value, isRemovable: value === asked, isAsked: false },
        { field, name, label, value: value === asked ? '' : asked, isRemovable: true, isAsked: true },
      ].filter((chip) => chip.value !== '');
    }),
  );
  const set = namesOf(fields).filter((name) => param(name) !== '');
  const remove = (names: readonly string[]) => {
    // The focused button disappears with its chip.
    document.querySelector<HTMLElement>('.toolbar > .popover summary')?.focus();
    setParams(Object.fromEntries([...names, 'page'].map((name) => [name, null])));
  };
  return (
    <div class="status-row">
      <output class="total">{total}</output>
      <ul class="chips" aria-label="Filters in force">
        {chips.map(({ field, name, label, value, isRemovable, isAsked }) => (
          <li key={`${name} ${isAsked}`} class={isAsked ? 'asked' : undefined} aria-busy={isAsked}>
            <span>
              {label}:{' '}
              {valuesIn(value)
                .slice(0, VALUES_IN_CHIP)
                .flatMap((each, place) => [
                  place > 0 && (field.values === 'all' ? ', ' : ' or '),
                  shown(field, each),
                ])}
              {valuesIn(value).length > VALUES_IN_CHIP && `, ${valuesIn(value).length - VALUES_IN_CHIP} more`}
            </span>
            {isRemovable && (
              <button type="button" aria-label={`Remove ${label}`} onClick={() => remove([name])}>
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {set.length > 1 && (
        <button type="button" onClick={() => remove(set)}>
          Clear
        </button>
      )}
    </div>
  );
}
