/** Saved filters of a list, which everybody in the organization sees, and those that only this browser keeps. */
import { ReachlineProblem } from '../../client/index.js';
import type { RequestOf, ResponseOf } from '../api.js';
import type { Notice } from '../notice.js';
import { href, paramsWith, path, withParams } from '../router.js';
import {
  type SavedFilter as BrowserFilter,
  removeFilter,
  savedFilters,
  saveFilter,
} from '../saved-filters.js';
import { missingScope, type Session, useSession } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';
import { MAX_NAME_LENGTH, SavedFilters } from './saved-filters-button.js';
import { Failed } from './states.js';
import { Popover } from './toolbar.js';

const LIST = '/api/filters/list';
const SAVE = '/api/filters/save';

type View = RequestOf<typeof LIST>['view'];
type SavedFilter = ResponseOf<typeof LIST>['filters'][number];
type Filter<Name extends View> = NonNullable<SavedFilter[Name]>;

interface SharedFiltersProps<Name extends View> {
  view: Name;
  /** The filter that the parameters of the address describe. */
  filterOf(): Filter<Name>;
  /** The parameters that describe a filter. */
  paramsOf(filter: Filter<Name>): Record<string, unknown>;
}

export function SharedFiltersButton<Name extends View>(props: SharedFiltersProps<Name>) {
  return (
    <Popover label="Saved">
      <SharedFilters {...props} />
    </Popover>
  );
}

/** The filter in the field of its list. */
type FilterFields = Omit<RequestOf<typeof SAVE>, 'name' | 'organization_id'>;

async function save(session: Session, name: string, filter: FilterFields): Promise<Notice> {
  const { replaced_filter: replaced } = await session.call(SAVE, { ...filter, name });
  return {
    text: `The filter ${name} was saved for everybody in the organization.`,
    undo: () => (replaced ? restore(session, replaced) : forget(session, viewOf(filter), name)),
  };
}

const viewOf = ({ contacts, audiences }: FilterFields): View =>
  contacts ? 'contacts' : audiences ? 'audiences' : 'visits';

async function restore(session: Session, saved: SavedFilter): Promise<Notice> {
  const { created_at: _, updated_at: __, ...filter } = saved;
  await session.call(SAVE, filter);
  return { text: `The filter ${saved.name} is as before.` };
}

async function forget(session: Session, view: View, name: string): Promise<Notice> {
  const { deleted_filter: deleted } = await session.call('/api/filters/delete', { view, name });
  return {
    text: `The filter ${name} was deleted for everybody in the organization.`,
    undo: deleted ? () => restore(session, deleted) : undefined,
  };
}

/** The JSON of a value, the same for every order of its fields. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each) =>
    each && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );

/** Name number `number` to try: the given name, then `name (2)` and so on, within the length of a name. */
function nameToTry(name: string, number: number): string {
  const suffix = number === 1 ? '' : ` (${number})`;
  return name.slice(0, MAX_NAME_LENGTH - suffix.length) + suffix;
}

/**
 * Saves for everybody a filter that this browser keeps, under the first name that is free, and then removes it from the browser. The
 * server rejects a name that is taken, so that no filter is replaced, whoever saves at the same time.
 */
async function share(session: Session, kept: BrowserFilter, filter: FilterFields): Promise<Notice> {
  const { organizationId } = session;
  let name = kept.name;
  for (let number = 2; !(await isSaved(session, name, filter)); number++) name = nameToTry(kept.name, number);
  removeFilter(organizationId, kept);
  return {
    text: `The filter ${name} was saved for everybody in the organization.`,
    undo: async () => {
      saveFilter(organizationId, kept.name, kept.path, new URLSearchParams(kept.search));
      return forget(session, viewOf(filter), name);
    },
  };
}

/** Saves a filter unless its name is taken; resolves with whether it was saved. */
async function isSaved(session: Session, name: string, filter: FilterFields): Promise<boolean> {
  try {
    await session.call(SAVE, { ...filter, name, replace: false });
    return true;
  } catch (error) {
    if (error instanceof ReachlineProblem && error.code === 'filter_exists') return false;
    throw error;
  }
}

async function forgetKept({ organizationId }: Session, kept: BrowserFilter): Promise<Notice> {
  removeFilter(organizationId, kept);
  return {
    text: `The filter ${kept.name} was removed from this browser.`,
    undo: async () => {
      saveFilter(organizationId, kept.name, kept.path, new URLSearchParams(kept.search));
      return { text: `The filter ${kept.name} is as before.` };
    },
  };
}

function SharedFilters<Name extends View>({ view, filterOf, paramsOf }: SharedFiltersProps<Name>) {
  const session = useSession();
  const answer = useRequest(LIST, { view });
  const filters = shownOf(answer)?.data.filters;
  const mayWrite = missingScope('audiences:write') === null;
  const fieldsOf = (filter: Filter<Name>) => ({ [view]: filter }) as FilterFields;
  const here = path.value;
  const kept = savedFilters(session.organizationId).filter((filter) => filter.path === here);

  /** The address of a filter; null if the view would show another filter. */
  function hrefOf(filter: Filter<Name>): string | null {
    const params = paramsOf(filter) as Record<string, string>;
    const shown = withParams(paramsWith(params), filterOf);
    return canonical(shown) === canonical(filter) ? href(here, params) : null;
  }

  return (
    <>
      <Failed what="The saved filters" answer={answer} />
      <SavedFilters
        filters={filters?.map((filter) => ({
          name: filter.name,
          href: hrefOf(filter[view] as Filter<Name>),
        }))}
        disabled={!mayWrite}
        onForget={(name) => session.perform('the filter was deleted', () => forget(session, view, name))}
        onSave={(name) =>
          session.perform('the filter was saved', () => save(session, name, fieldsOf(filterOf())))
        }
        note={
          mayWrite
            ? 'Everybody in the organization sees them.'
            : 'To save filters, the key needs the scope audiences:write.'
        }
      />
      {kept.length > 0 && <p class="note">Only in this browser:</p>}
      <ul class="saved">
        {kept.map((filter) => (
          <li key={filter.name}>
            <a href={`${href(here)}${filter.search && `?${filter.search}`}`}>{filter.name}</a>
            <span class="row">
              <button
                type="button"
                aria-label={`Share ${filter.name}`}
                disabled={!mayWrite}
                onClick={() => {
                  const content = withParams(new URLSearchParams(filter.search), filterOf);
                  void session.perform('the filter was saved', () =>
                    share(session, filter, fieldsOf(content)),
                  );
                }}
              >
                Share
              </button>
              <button
                type="button"
                aria-label={`Forget ${filter.name} in this browser`}
                onClick={() => session.perform('the filter was removed', () => forgetKept(session, filter))}
              >
                ×
              </button>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
