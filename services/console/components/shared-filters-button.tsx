/** Saved filters of a list, which everybody in the organization sees. */
import { useEffect } from 'preact/hooks';
import type { RequestOf, ResponseOf } from '../api.js';
import type { Notice } from '../notice.js';
import { href, path, withParams } from '../router.js';
import { removeFilter, savedFilters } from '../saved-filters.js';
import { missingScope, type Session, useSession } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';
import { SavedFilters } from './saved-filters-button.js';
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

function SharedFilters<Name extends View>({ view, filterOf, paramsOf }: SharedFiltersProps<Name>) {
  const session = useSession();
  const answer = useRequest(LIST, { view });
  const filters = shownOf(answer)?.data.filters;
  const mayWrite = missingScope('audiences:write') === null;
  const fieldsOf = (filter: Filter<Name>) => ({ [view]: filter }) as FilterFields;
  useEffect(() => {
    if (mayWrite && answer.state === 'current') void moveFromBrowser();
  }, [mayWrite, answer.state]);

  /** Saves on the server the filters that this browser kept before. A filter that the server rejects stays in the browser. */
  async function moveFromBrowser() {
    const { organizationId } = session;
    const here = path.value;
    let moved = 0;
    for (const filter of savedFilters(organizationId).filter((each) => each.path === here)) {
      const isTaken = filters?.some(({ name }) => name === filter.name);
      const name = isTaken ? `${filter.name} (of this browser)` : filter.name;
      const content = withParams(new URLSearchParams(filter.search), filterOf);
      const saved = await session.call(SAVE, { ...fieldsOf(content), name }).catch(() => null);
      if (!saved) continue;
      removeFilter(organizationId, filter);
      moved++;
    }
    if (moved > 0) session.writes.value++;
  }

  return (
    <>
      <Failed what="The saved filters" answer={answer} />
      <SavedFilters
        filters={filters?.map((filter) => ({
          name: filter.name,
          href: href(path.value, paramsOf(filter[view] as Filter<Name>) as Record<string, string>),
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
    </>
  );
}
