import { useState } from 'preact/hooks';
import type { RequestOf, ResponseOf } from '../api.js';
import { count } from '../format.js';
import { hrefWith, param } from '../router.js';
import { useRequest } from '../use-request.js';

const PATH = '/api/contacts/search';
const SHOWN = 5;
const FIELDS = [
  ['country', 'Country'],
  ['job_title', 'Job title'],
  ['company_name', 'Company'],
  ['city', 'City'],
] as const;

export type FacetCounts = ResponseOf<typeof PATH>['facets'];
const FACET_NAMES = FIELDS.map(([name]) => name);

/** The most frequent values over all matches. */
export const useFacets = (filters: RequestOf<typeof PATH> | null): FacetCounts =>
  useRequest(PATH, filters && { ...filters, limit: 1, facets: FACET_NAMES }).data?.facets;

/** Each narrows the list to it, and opens it again. On a phone they fold into a button. */
export function Facets({ facets }: { facets: FacetCounts }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section class={isOpen ? 'facets open' : 'facets'} aria-label="Top values">
      <button type="button" class="fold-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Top values
      </button>
      {FIELDS.map(([name, label]) => (
        <div key={name}>
          <h3>{label}</h3>
          <ul>
            {facets?.[name]?.slice(0, SHOWN).map((facet) => {
              const isChosen = param(name) === facet.value;
              return (
                <li key={facet.value}>
                  <a
                    href={hrefWith({ [name]: isChosen ? null : facet.value })}
                    aria-current={isChosen ? 'true' : undefined}
                  >
                    {facet.value}
                  </a>
                  <span>{count(facet.count)}</span>
                </li>
              );
            })}
          </ul>
        </div>
      ))}
    </section>
  );
}
