import { useState } from 'preact/hooks';
import { address, href, path } from '../router.js';
import { removeFilter, savedFilters, saveFilter } from '../saved-filters.js';
import { useSession } from '../session.js';
import { Form } from './form.js';
import { Popover } from './toolbar.js';

const MAX_NAME_LENGTH = 60;

export function SavedFiltersButton() {
  const [name, setName] = useState('');
  const { organizationId } = useSession();
  const [saved, setSaved] = useState(() => savedFilters(organizationId));
  const filters = saved.filter((filter) => filter.path === path.value);
  return (
    <Popover label="Saved">
      {filters.length === 0 && <p class="note">No saved filters in this view.</p>}
      <ul class="saved">
        {filters.map((filter) => (
          <li key={filter.name}>
            <a href={`${href(filter.path)}${filter.search && `?${filter.search}`}`}>{filter.name}</a>
            <button
              type="button"
              aria-label={`Forget ${filter.name}`}
              onClick={() => setSaved(removeFilter(organizationId, filter))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <Form
        class="row"
        onSubmit={() => {
          setSaved(saveFilter(organizationId, name.trim(), path.value, address.value.params));
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
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit">Save these filters</button>
      </Form>
      <p class="note">Kept in this browser.</p>
    </Popover>
  );
}
