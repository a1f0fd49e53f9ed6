import { useState } from 'preact/hooks';
import { address, href, path } from '../router.js';
import { removeFilter, savedFilters, saveFilter } from '../saved-filters.js';
import { useSession } from '../session.js';
import { Form } from './form.js';
import { Popover } from './toolbar.js';

/** Maximum characters of a name, as in the API. */
export const MAX_NAME_LENGTH = 100;

/** The filters of this view that a person named, kept in the browser. */
export function SavedFiltersButton() {
  const { organizationId } = useSession();
  const [saved, setSaved] = useState(() => savedFilters(organizationId));
  const filters = saved.filter((filter) => filter.path === path.value);
  return (
    <Popover label="Saved">
      <SavedFilters
        filters={filters.map(({ name, path, search }) => ({
          name,
          href: `${href(path)}${search && `?${search}`}`,
        }))}
        onForget={(name) => setSaved(removeFilter(organizationId, { name, path: path.value }))}
        onSave={(name) => setSaved(saveFilter(organizationId, name, path.value, address.value.params))}
        note="Kept in this browser."
      />
    </Popover>
  );
}

interface SavedFiltersProps {
  /** Undefined until they are read. `href` is null if the console cannot show the whole filter. */
  filters: readonly { name: string; href: string | null }[] | undefined;
  disabled?: boolean;
  onForget(name: string): unknown;
  onSave(name: string): unknown;
  note: string;
}

export function SavedFilters({ filters, disabled = false, onForget, onSave, note }: SavedFiltersProps) {
  const [name, setName] = useState('');
  return (
    <>
      {filters?.length === 0 && <p class="note">No saved filters in this view.</p>}
      <ul class="saved">
        {filters?.map((filter) => (
          <li key={filter.name}>
            {filter.href === null ? (
              <span>
                {filter.name}
                <span class="note"> (saved over the API; the console cannot show it)</span>
              </span>
            ) : (
              <a href={filter.href}>{filter.name}</a>
            )}
            <button
              type="button"
              aria-label={`Forget ${filter.name}`}
              disabled={disabled}
              onClick={() => onForget(filter.name)}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <Form
        class="row"
        onSubmit={() => {
          onSave(name.trim());
          setName('');
        }}
      >
        <input
          aria-label="Name of the filters"
          placeholder="Name"
          required
          pattern=".*\S.*"
          maxLength={MAX_NAME_LENGTH}
          autocomplete="off"
          disabled={disabled}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" disabled={disabled}>
          Save these filters
        </button>
      </Form>
      <p class="note">{note}</p>
    </>
  );
}
