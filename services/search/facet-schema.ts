/** The schema of facets. The schema has a separate file, because search processes load no schema library. */
import { integer, looseObject, Type } from '../shared/schema.js';

export const FacetCount = looseObject(
  {
    value: Type.String({ description: 'The value.' }),
    count: integer('How many matches have it.', { minimum: 1 }),
  },
  { $id: 'FacetCount', description: 'A value, and how many matches have it.' },
);
