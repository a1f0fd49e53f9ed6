/** Columns of each list that a person chose, stored in this browser like the theme. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Column } from './table.js';
import { Popover } from './toolbar.js';

const STORED_COLUMNS = 'reachline.columns';

type Choices = Readonly<Record<string, readonly string[]>>;

function read(): Choices {
  try {
    return (JSON.parse(localStorage.getItem(STORED_COLUMNS) ?? '{}') ?? {}) as Choices;
  } catch {
    return {};
  }
}

const choices = signal(read());

function choose(list: string, labels: readonly string[] | undefined): void {
  choices.value = { ...read(), [list]: labels as readonly string[] };
  localStorage.setItem(STORED_COLUMNS, JSON.stringify(choices.value));
}

const isShown = ({ label, choice }: Pick<Column<never>, 'label' | 'choice'>, labels: unknown) =>
  choice === undefined || (Array.isArray(labels) ? labels.includes(label) : choice === 'standard');

/** The columns to show. Returns the same array until the choice changes. */
export function useColumns<C extends Pick<Column<never>, 'label' | 'choice'>>(
  list: string,
  columns: readonly C[],
): readonly C[] {
  const labels = choices.value[list];
  return useMemo(() => columns.filter((column) => isShown(column, labels)), [columns, labels]);
}

interface ColumnsButtonProps {
  list: string;
  columns: readonly Pick<Column<never>, 'label' | 'choice'>[];
}

export function ColumnsButton({ list, columns }: ColumnsButtonProps) {
  const labels = choices.value[list];
  const choosable = columns.filter(({ choice }) => choice !== undefined);
  const chosen = choosable.filter((column) => isShown(column, labels)).map(({ label }) => label);
  return (
    <Popover label="Columns">
      <div class="checks">
        {choosable.map(({ label }) => (
          <label key={label}>
            <input
              type="checkbox"
              checked={chosen.includes(label)}
              onChange={({ currentTarget: { checked } }) =>
                choose(list, checked ? [...chosen, label] : chosen.filter((other) => other !== label))
              }
            />
            {label}
          </label>
        ))}
      </div>
      <button type="button" disabled={labels === undefined} onClick={() => choose(list, undefined)}>
        Standard columns
      </button>
      <p class="note">Kept in this browser. A narrow window shows fewer.</p>
    </Popover>
  );
}
