import type { ComponentChildren, JSX } from 'preact';
import { flushSync, memo } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ScrollRegion } from './scroll-region.js';
import { SkeletonRows } from './states.js';

export interface Column<Row> {
  label: string;
  cell(row: Row): ComponentChildren;
  class?: string;
  /** Of a column that a person may leave out or take in: whether it is shown before anybody chose. */
  choice?: 'standard' | 'extra';
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
  /** Of a list that may be long: how many rows match. Only those near to what is shown are drawn; its columns have fixed widths. */
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

interface FigureTableProps<Row> extends Omit<TableProps<Row>, 'pages' | 'total' | 'class'> {
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

/** Rows of a part of a page, which are drawn and left out together. */
const PART = 50;
/** How near to what is shown a part is drawn, in pixels. */
const NEAR = 1200;

interface RowsProps<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  selected: string | undefined;
  /** Of the first row, the head being 1, where not all rows are drawn. */
  firstIndex: number | undefined;
}

/** One page of rows. Drawn again only when it, the columns or its selection change. */
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

/** A part that has its rows only near to what is shown, and where the focus is. The first of a page has them at once. */
function WindowedPart<Row>({ isFirst, ...props }: RowsProps<Row> & { isFirst: boolean }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [isNear, setNear] = useState(isFirst);
  useEffect(() => {
    const element = body.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      (entries) =>
        setNear(entries.at(-1)?.isIntersecting === true || element.contains(document.activeElement)),
      // Of the window, and of a panel that scrolls.
      { rootMargin: `${NEAR}px`, scrollMargin: `${NEAR}px` },
    );
    observer.observe(element);
    // What is printed, and what the browser searches, is what is drawn.
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
        // Every row has the same height.
        <tr>
          <td colSpan={columns.length} style={{ height: `calc(${rows.length} * var(--row-height))` }} />
        </tr>
      )}
    </tbody>
  );
}
