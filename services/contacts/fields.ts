/** Fields of a contact whose single words can be asked for. */
export const WORD_FIELDS = [
  'first_name',
  'last_name',
  'job_title',
  'functional_area',
  'company_name',
  'city',
  'state_region',
] as const;
export type WordField = (typeof WORD_FIELDS)[number];

/** Fields of a contact compared as a whole, in the normal form of `shared/normalize.ts`. */
export type ValueField = 'country' | 'postal_code' | 'company_domain' | 'network_a_url' | 'network_a_slug';
