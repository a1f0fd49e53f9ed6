/** A table of metrics whose headings order its list, by the parameters `sort` and `direction` of the address. */
import { param, setParams } from '../router.js';
import { type Column, FigureTable, type FigureTableProps } from './table.js';

export type SortedColumn<Row, Sort extends string = string> = Column<Row> & { sort?: Sort };

/** The order that the address names. */
export const orderOf = <Sort extends string>(columns: readonly { sort?: Sort }[], standard: Sort) => ({
  sort_by: columns.find(({ sort }) => sort !== undefined && sort === param('sort'))?.sort ?? standard,
  sort_direction: param('direction') === 'asc' ? ('asc' as const) : ('desc' as const),
});

interface Order {
  sort_by?: string | null;
  sort_direction?: 'asc' | 'desc' | null;
}

interface SortedTableProps<Row> extends FigureTableProps<Row> {
  columns: readonly SortedColumn<Row>[];
  /** The order of the rows. */
  order: Order;
}

export function SortedTable<Row>({ columns, order, ...table }: SortedTableProps<Row>) {
  const headed = columns.map((column) => ({
    heading: <SortHead key={column.label} {...column} {...order} />,
    ...column,
  }));
  return <FigureTable {...table} columns={headed} />;
}

type SortHeadProps = Pick<SortedColumn<unknown>, 'label' | 'sort' | 'class'> & Order;

/** Sorts metrics from the highest and names from A; a second click reverses the order. */
function SortHead({ label, sort, sort_by, sort_direction, class: name }: SortHeadProps) {
  if (sort === undefined) {
    return (
      <th scope="col" class={name}>
        {label}
      </th>
    );
  }
  const isAscending = sort_direction === 'asc';
  const isCurrent = sort === sort_by;
  const next = isCurrent ? !isAscending : !name?.includes('figure');
  return (
    <th scope="col" class={name} aria-sort={isCurrent ? (isAscending ? 'ascending' : 'descending') : 'none'}>
      <button type="button" onClick={() => setParams({ sort, direction: next ? 'asc' : null, page: null })}>
        {label}
        <span aria-hidden="true">{isCurrent && (isAscending ? '↑' : '↓')}</span>
      </button>
    </th>
  );
}
