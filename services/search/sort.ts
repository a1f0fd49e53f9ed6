/** The order that the request fields `sort_by` and `sort_direction` choose, the same for every list with a cursor. */
import { optional, stringEnum } from '../shared/schema.js';
import type { Sort } from './query.js';

export const sortRequest = <Name extends string>(names: readonly Name[]) => ({
  sort_by: optional(
    stringEnum(
      'What the items are ordered by, text without regard to case and accents; items without it come last, and items with the same by id, in the same direction. Without it, by `created_at`.',
      names,
    ),
  ),
  sort_direction: optional(stringEnum('Without it, `desc` for times and `asc` for text.', ['asc', 'desc'])),
});

/** Whether a field is a time, by the end of its name. Times sort from the latest by default. */
export const isTime = (sortBy: string): boolean => sortBy.endsWith('_at');

/** The requested order; undefined for the default order of lists, which is newest first. */
export function sortOf<Name extends string>({
  sort_by: by,
  sort_direction: direction,
}: {
  sort_by?: Name | null;
  sort_direction?: Sort['direction'] | null;
}): Sort<Name | 'created_at'> | undefined {
  const sort = {
    by: by ?? 'created_at',
    direction: direction ?? (isTime(by ?? 'created_at') ? 'desc' : 'asc'),
  } as const;
  return sort.by === 'created_at' && sort.direction === 'desc' ? undefined : sort;
}
