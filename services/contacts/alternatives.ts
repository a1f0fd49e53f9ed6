import type { ContactCriteria, ContactFilter } from './contact-store.js';

type ValueFilter = ContactFilter & { kind: 'value' };

const valuesOf = ({ filters }: ContactCriteria, field: string): ValueFilter[] =>
  filters.filter((filter): filter is ValueFilter => filter.kind === 'value' && filter.field === field);

/**
 * Unites alternatives that differ only in the values of one field: a contact matches if it has one of all these values. A store then checks
 * one condition instead of one for each alternative.
 */
export function uniteAlternatives(alternatives: readonly ContactCriteria[]): ContactCriteria[] {
  const fields = alternatives.flatMap(({ filters }) =>
    filters.flatMap((filter) => (filter.kind === 'value' ? [filter.field] : [])),
  );
  return [...new Set(fields)].reduce<ContactCriteria[]>(uniteValues, [...alternatives]);
}

function uniteValues(alternatives: ContactCriteria[], field: ValueFilter['field']): ContactCriteria[] {
  const united = new Map<string, ContactCriteria>();
  for (const [place, criteria] of alternatives.entries()) {
    const [own, ...more] = valuesOf(criteria, field);
    const others = criteria.filters.filter((filter) => filter !== own);
    // Two conditions on the field must both hold.
    const isUnitable = own !== undefined && more.length === 0;
    const key = JSON.stringify(isUnitable ? { ...criteria, filters: others } : place);
    const [before] = valuesOf(united.get(key) ?? criteria, field);
    const values = [...new Set([...(before?.values ?? []), ...(own?.values ?? [])])];
    united.set(
      key,
      isUnitable ? { ...criteria, filters: [...others, { kind: 'value', field, values }] } : criteria,
    );
  }
  return [...united.values()];
}

/** The filters that every alternative has, and the alternatives without these. */
export function splitCommonFilters(alternatives: readonly ContactCriteria[]): {
  common: ContactFilter[];
  rest: ContactCriteria[];
} {
  const ofEach = alternatives.map(({ filters }) => new Set(filters.map((filter) => JSON.stringify(filter))));
  const isCommon = (filter: ContactFilter) => ofEach.every((keys) => keys.has(JSON.stringify(filter)));
  return {
    common: alternatives[0]?.filters.filter(isCommon) ?? [],
    rest: alternatives.map((criteria) => ({
      ...criteria,
      filters: criteria.filters.filter((filter) => !isCommon(filter)),
    })),
  };
}
