import type { ComponentChildren, JSX } from 'preact';
import { memo } from 'preact/compat';
import { ScrollRegion } from './scroll-region.js';
import { SkeletonRows } from './states.js';

export interface Column<Row> {
  label: string;
  cell(row: Row): ComponentChildren;
  class?: string;
  /** In place of a heading with the label alone. */
  heading?: JSX.Element;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while the first rows are loaded. */
  pages: readonly (readonly Row[])[] | undefined;
  keyOf(row: Row): string;
  /** Key of the row whose panel is open. */
  selected?: string;
  busy?: boolean;
  class?: string;
}

export function Table<Row>({
  label,
  columns,
  pages,
  keyOf,
  selected,
  busy = false,
  ...table
}: TableProps<Row>) {
  return (
    <table class={table.class ?? 'list'} aria-label={label} aria-busy={busy}>
      <thead>
        <tr>
          {columns.map(
            (column) =>
              column.heading ?? (
                <th key={column.label} scope="col" class={column.class}>
                  {column.label}
                </th>
              ),
          )}
        </tr>
      </thead>
      {!pages && <SkeletonRows columns={columns.length} />}
      {pages?.map((rows, index) => {
        const inPage = selected !== undefined && rows.some((row) => keyOf(row) === selected);
        return (
          <Rows
            key={index}
            rows={rows}
            columns={columns}
            keyOf={keyOf}
            selected={inPage ? selected : undefined}
          />
        );
      })}
    </table>
  );
}

interface FigureTableProps<Row> extends Omit<TableProps<Row>, 'pages' | 'class'> {
  rows: readonly Row[] | undefined;
}

/** A table of figures, which scrolls sideways where it is wide. */
export function FigureTable<Row>({ rows, ...table }: FigureTableProps<Row>) {
  return (
    <ScrollRegion label={table.label}>
      <Table {...table} class="list figures" pages={rows && [rows]} />
    </ScrollRegion>
  );
}

interface RowsProps<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  selected: string | undefined;
}

/** One page of rows. Drawn again only when it, the columns or its selection change. */
const Rows = memo(function Rows<Row>({ rows, columns, keyOf, selected }: RowsProps<Row>) {
  return (
    <tbody>
      {rows.map((row) => (
        <tr key={keyOf(row)} aria-current={keyOf(row) === selected ? 'true' : undefined}>
          {columns.map((column) => (
            <td key={column.label} class={column.class}>
              {column.cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}) as <Row>(props: RowsProps<Row>) => JSX.Element;
