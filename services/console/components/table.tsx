import type { ComponentChildren, JSX } from 'preact';
import { flushSync, memo } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ScrollRegion } from './scroll-region.js';
import { SkeletonRows } from './states.js';

export interface Column<Row> {
  label: string;
  cell(row: Row): ComponentChildren;
  class?: string;
  /** Makes the column optional, and says whether it is shown by default. */
  choice?: 'standard' | 'extra';
  /** Rendered instead of the plain label. */
  heading?: JSX.Element;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while the first rows load. */
  pages: readonly (readonly Row[])[] | undefined;
  keyOf(row: Row): string;
  /** Key of the row whose panel is open. */
  selected?: string;
  busy?: boolean;
  /** Number of rows that match, for a list that may be long. Only rows near the visible part are drawn, and columns have fixed widths. */
  total?: number;
  class?: string;
}

export function Table<Row>({
  label,
  columns,
  pages,
  keyOf,
  selected,
  busy = false,
  total,
  ...table
}: TableProps<Row>) {
  let nextIndex = 2;
  return (
    <table
      class={table.class ?? 'list'}
      aria-label={label}
      aria-busy={busy}
      aria-rowcount={total === undefined ? undefined : total + 1}
    >
      <thead>
        <tr aria-rowindex={total === undefined ? undefined : 1}>
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
        const firstIndex = nextIndex;
        nextIndex += rows.length;
        const inPage = selected !== undefined && rows.some((row) => keyOf(row) === selected);
        return (
          <Rows
            key={index}
            rows={rows}
            columns={columns}
            keyOf={keyOf}
            selected={inPage ? selected : undefined}
            firstIndex={total === undefined ? undefined : firstIndex}
          />
        );
      })}
    </table>
  );
}

export interface FigureTableProps<Row> extends Omit<TableProps<Row>, 'pages' | 'total' | 'class'> {
  rows: readonly Row[] | undefined;
}

/** A table of metrics, which scrolls sideways if it is wide. */
export function FigureTable<Row>({ rows, ...table }: FigureTableProps<Row>) {
  return (
    <ScrollRegion label={table.label}>
      <Table {...table} class="list figures" pages={rows && [rows]} />
    </ScrollRegion>
  );
}

/** Number of rows in a part. The rows of a part are drawn or left out together. */
const PART = 50;
/** Distance from the visible part, in pixels, within which a part is drawn. */
const NEAR = 1200;

interface RowsProps<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  selected: string | undefined;
  /** Row index of the first row (the head is 1), if not all rows are drawn. */
  firstIndex: number | undefined;
}

/** One page of rows. It is drawn again only when the page, the columns or its selection change. */
const Rows = memo(function Rows<Row>({ rows, firstIndex, ...props }: RowsProps<Row>) {
  if (firstIndex === undefined) return <Part rows={rows} firstIndex={undefined} isNear {...props} />;
  return (
    <>
      {Array.from({ length: Math.ceil(rows.length / PART) }, (_, index) => (
        <WindowedPart
          key={index}
          rows={rows.slice(index * PART, (index + 1) * PART)}
          firstIndex={firstIndex + index * PART}
          isFirst={index === 0}
          {...props}
        />
      ))}
    </>
  );
}) as <Row>(props: RowsProps<Row>) => JSX.Element;

/** A part that draws its rows only near the visible area, or if it has the focus. The first part of a page draws them at once. */
function WindowedPart<Row>({ isFirst, ...props }: RowsProps<Row> & { isFirst: boolean }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [isNear, setNear] = useState(isFirst);
  useEffect(() => {
    const element = body.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      (entries) =>
        setNear(entries.at(-1)?.isIntersecting === true || element.contains(document.activeElement)),
      // Margins for scrolling of the window, and of a panel.
      { rootMargin: `${NEAR}px`, scrollMargin: `${NEAR}px` },
    );
    observer.observe(element);
    // Printing and the browser's search include only what is drawn, so everything is drawn before.
    const draw = () => flushSync(() => setNear(true));
    const drawToFind = (event: KeyboardEvent) => {
      if (event.key === 'f' && (event.metaKey || event.ctrlKey)) draw();
    };
    addEventListener('beforeprint', draw);
    addEventListener('keydown', drawToFind);
    return () => {
      observer.disconnect();
      removeEventListener('beforeprint', draw);
      removeEventListener('keydown', drawToFind);
    };
  }, []);
  return <Part body={body} isNear={isNear} {...props} />;
}

interface PartProps<Row> extends RowsProps<Row> {
  body?: { current: HTMLTableSectionElement | null };
  isNear: boolean;
}

function Part<Row>({ rows, columns, keyOf, selected, firstIndex, body, isNear }: PartProps<Row>) {
  return (
    <tbody ref={body}>
      {isNear ? (
        rows.map((row, index) => (
          <tr
            key={keyOf(row)}
            aria-current={keyOf(row) === selected ? 'true' : undefined}
            aria-rowindex={firstIndex === undefined ? undefined : firstIndex + index}
          >
            {columns.map((column) => (
              <td key={column.label} class={column.class}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))
      ) : (
        // All rows have the same height.
        <tr>
          <td colSpan={columns.length} style={{ height: `calc(${rows.length} * var(--row-height))` }} />
        </tr>
      )}
    </tbody>
  );
}
