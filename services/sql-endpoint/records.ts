/**
 * Contacts, audiences and visits for statements. While a statement runs, the embedded engine reads records from this endpoint as lines of
 * JSON, through the interface of the records store. A path contains a grant, which belongs to one statement and ends with that statement,
 * so a statement reads only the organization of its API key.
 */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SortKey } from '../search/query.js';
import { withOwnSignal } from '../shared/async.js';
import type { RecordStore } from '../stores/common/record-store.js';

export type RecordReader = Pick<RecordStore, 'searchContacts' | 'searchAudiences' | 'searchVisits'>;

const PATH = /^\/records\/(?<token>[0-9a-f]{32})\/(?<kind>contacts|audiences|visits)$/;
const PAGE_RECORDS = 1000;

interface Grant {
  organizationId: string;
  signal: AbortSignal;
}

interface RecordPage {
  items: readonly (string | object)[];
  next: SortKey | null;
}

type ReadPage = (
  store: RecordReader,
  page: { organizationId: string; limit: number; after?: SortKey; skipsTotal?: boolean },
  signal: AbortSignal,
) => Promise<RecordPage>;

const READERS: Record<string, ReadPage> = {
  contacts: (store, page, signal) => store.searchContacts({ ...page, filters: [] }, { signal }),
  audiences: (store, page, signal) => store.searchAudiences(page, signal),
  visits: (store, page, signal) => store.searchVisits(page, signal),
};

export class RecordSource {
  readonly #store: RecordReader;
  readonly #grants = new Map<string, Grant>();

  constructor(store: RecordReader) {
    this.#store = store;
  }

  /** Returns the path below which a statement finds the records of an organization, until the signal is aborted. */
  grant(organizationId: string, signal: AbortSignal): string {
    const token = randomBytes(16).toString('hex');
    this.#grants.set(token, { organizationId, signal });
    signal.addEventListener('abort', () => this.#grants.delete(token), { once: true });
    return `/records/${token}/`;
  }

  /** Responds to the engine. Returns false if the path belongs to no granted records. */
  async send(path: string, response: ServerResponse): Promise<boolean> {
    const { token = '', kind = '' } = PATH.exec(path)?.groups ?? {};
    const grant = this.#grants.get(token);
    const read = READERS[kind];
    if (!grant || !read) return false;
    response.setHeader('Content-Type', 'application/x-ndjson');
    await pipeline(Readable.from(lines(this.#store, read, grant)), response);
    return true;
  }
}

async function* lines(store: RecordReader, read: ReadPage, grant: Grant): AsyncGenerator<string> {
  const { organizationId, signal } = grant;
  let after: SortKey | undefined;
  do {
    const first = after === undefined ? {} : { after, skipsTotal: true };
    const page = await withOwnSignal(signal, (pageSignal) =>
      read(store, { organizationId, limit: PAGE_RECORDS, ...first }, pageSignal),
    );
    yield page.items.map((item) => `${typeof item === 'string' ? item : JSON.stringify(item)}\n`).join('');
    after = page.next ?? undefined;
  } while (after);
}
