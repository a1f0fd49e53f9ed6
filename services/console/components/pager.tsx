import { plural } from '../format.js';
import { hrefWith } from '../router.js';

interface PagerProps {
  page: number;
  pageSize: number;
  total: number;
  /** Last page that the API returns. */
  lastPage?: number;
  one: string;
  many?: string;
}

export function Pager({ page, pageSize, total, lastPage = Number.POSITIVE_INFINITY, one, many }: PagerProps) {
  const last = Math.max(1, Math.min(Math.ceil(total / pageSize), lastPage));
  const to = (target: number) => hrefWith({ page: target === 1 ? null : target });
  if (page > last) {
    return (
      <div class="state">
        <p>There is no page {page}.</p>
        <a class="button" href={to(last)}>
          Go to page {last}
        </a>
      </div>
    );
  }
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 ? (
        <a class="button" href={to(page - 1)}>
          Previous
        </a>
      ) : (
        <button type="button" disabled>
          Previous
        </button>
      )}
      <span>
        Page {page} of {last}, {plural(total, one, many)}
      </span>
      {page < last ? (
        <a class="button" href={to(page + 1)}>
          Next
        </a>
      ) : (
        <button type="button" disabled>
          Next
        </button>
      )}
    </nav>
  );
}
