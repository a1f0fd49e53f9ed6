/** The filters of an address as filters of a contact search, and back. */
import type { RequestOf } from './api.js';
import { type FilterField, type FilterValues, filterValue, NOT, valuesIn } from './components/filters.js';

type ContactFilters = Partial<RequestOf<'/api/contacts/search'>>;
type Filter = Record<string, string>;

/** Several domains are one list. */
const LISTS: Record<string, string> = { company_domain: 'company_domains' };

/**
 * The filters of all fields but one, within the contacts of a list. If several fields have several values, each combination of their values
 * is one alternative.
 */
export function segmentOf(
  fields: readonly FilterField[],
  except?: string,
  list: Filter = {},
): ContactFilters {
  const filters: Record<string, unknown> = { ...list };
  let alternatives: Filter[] = [{}];
  const excluded: Filter[] = [];
  for (const field of fields.filter(({ name }) => name !== except)) {
    const { name } = field;
    const values = valuesIn(filterValue(field)).map((value) => sent(field, value));
    const [only] = values;
    if (field.values === 'all' ? only : values.length > 1 && LISTS[name])
      filters[LISTS[name] ?? name] = values;
    else if (values.length > 1 || (only && name in list))
      alternatives = alternatives.flatMap((each) => values.map((value) => ({ ...each, [name]: value })));
    else if (only) filters[name] = only;
    if (field.values === 'any')
      excluded.push(...valuesIn(filterValue(field, NOT)).map((value) => ({ [name]: value })));
  }
  if (alternatives.length > 1 || Object.keys(alternatives[0] ?? {}).length > 0) filters.any_of = alternatives;
  if (excluded.length > 0) filters.none_of = excluded;
  return filters;
}

const sent = ({ type }: FilterField, value: string) => (type === 'date' ? `${value}T00:00:00Z` : value);

/** The parameters of the address that these filters come from. */
export function valuesOf(fields: readonly FilterField[], filters: FilterValues): FilterValues {
  const { any_of = [], none_of = [] } = filters as { any_of?: Filter[]; none_of?: Filter[] };
  const lines = (values: unknown[]) => [...new Set(values.filter(Boolean))].join('\n');
  return Object.fromEntries(
    fields.flatMap(({ name, type }) => {
      const own = [filters[name] ?? filters[LISTS[name] ?? ''] ?? any_of.map((each) => each[name])].flat();
      const values = type === 'date' ? own.map((value) => String(value ?? '').slice(0, 10)) : own;
      return [
        [name, lines(values)],
        [NOT + name, lines(none_of.map((each) => each[name]))],
      ];
    }),
  );
}
