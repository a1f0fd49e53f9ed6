import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Pages } from '../use-request.js';
import { Failure, Trouble } from './states.js';
import { type Column, Table } from './table.js';

interface EndlessListProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  pages: Pages<Row>;
  keyOf(row: Row): string;
  /** Key of the row whose panel is open. */
  selected?: string;
  /** Shown if nothing matches. */
  empty: ComponentChildren;
}

/** A table that loads its next page before a reader reaches its end. */
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

  if (pages.error && pages.pages.length === 0) return <Failure error={pages.error} retry={pages.retry} />;
  if (pages.total === 0 && pages.state === 'current') return <>{empty}</>;
  return (
    <>
      <Trouble answer={pages} old="These are the earlier rows." />
      <Table
        label={label}
        columns={columns}
        pages={pages.total === undefined && !pages.error ? undefined : pages.pages}
        keyOf={keyOf}
        selected={selected}
        busy={pages.loading}
        total={pages.total ?? 0}
      />
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
