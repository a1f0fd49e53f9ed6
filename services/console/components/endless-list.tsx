import type { ComponentChildren, JSX } from 'preact';
import { memo } from 'preact/compat';
import { useEffect, useRef } from 'preact/hooks';
import type { Pages } from '../use-request.js';
import { Failure, SkeletonRows } from './states.js';

export interface Column<Row> {
  label: string;
  cell(row: Row): ComponentChildren;
  class?: string;
}

interface EndlessListProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  pages: Pages<Row>;
  keyOf(row: Row): string;
  /** Key of the row whose panel is open. */
  selected?: string;
  /** Shown when nothing matches. */
  empty: ComponentChildren;
}

/** A table that asks for its next page before its end is reached. */
export function EndlessList<Row>({ label, columns, pages, keyOf, selected, empty }: EndlessListProps<Row>) {
  const end = useRef<HTMLDivElement>(null);
  const more = useRef(pages.more);
  more.current = pages.more;
  const canLoad = pages.hasMore && !pages.loading && !pages.error;
  useEffect(() => {
    const element = end.current;
    if (!element || !canLoad) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && more.current(), {
      rootMargin: '800px',
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [canLoad, pages.pages.length]);

  const isFirst = pages.total === undefined;
  if (pages.error && pages.pages.length === 0) return <Failure error={pages.error} retry={pages.retry} />;
  if (pages.total === 0 && !pages.error) return <>{empty}</>;
  return (
    <>
      {pages.error && <Failure error={pages.error} retry={pages.retry} />}
      <table class="list" aria-label={label} aria-busy={pages.loading}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.label} scope="col" class={column.class}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        {isFirst && !pages.error && <SkeletonRows columns={columns.length} />}
        {pages.pages.map((rows, index) => {
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
      <div ref={end} class="list-end">
        {pages.hasMore && (
          <button type="button" onClick={pages.more} disabled={pages.loading}>
            {pages.loading ? 'Loading …' : 'Load more'}
          </button>
        )}
      </div>
    </>
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
