/**
 * Rebuilds the text indexes and normal forms from the stored records, and writes the bodies of contacts and audiences with the fields
 * of this version. Runs when the rules or tables of `services/search` changed.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { AudienceRecord } from '../../../audiences/schema.js';
import { type AudienceBody, audienceBody } from '../../../audiences/stored-audience.js';
import { contactDomain } from '../../../contacts/contact-domain.js';
import { contactJson, parseContact } from '../../../contacts/contact-json.js';
import type { Contact } from '../../../contacts/schema.js';
import { searchableValues, sortValues } from '../../../contacts/searchable.js';
import type { ContactBody } from '../../../contacts/stored-contact.js';
import { SEARCH_RULES_VERSION } from '../../../search/rules-version.js';
import { TITLE_TABLES_VERSION } from '../../../search/titles.js';
import type { Json } from '../../../shared/json.js';
import { identifier, type Sql, sql } from '../../../shared/sql.js';
import type { Visit } from '../../../visits/schema.js';
import { searchableVisit } from '../../../visits/stored-visit.js';
import { AUDIENCE_COLUMNS, audienceColumns } from '../audiences.js';
import { beginEpoch } from '../change-counter.js';
import type { Connection } from '../connection.js';
import { CONTACT_COLUMNS, contactColumns } from '../contacts/indexed-contact.js';
import { TermEncoder } from '../text/term-encoder.js';
import { INDEX_NAMES, TEXT_INDEXES, type TextIndex } from '../text/text-index.js';
import { WriteSession } from '../writes/write-session.js';

export type RebuildProgress = (what: string, done: number, total: number) => void;

/** Rows per transaction: few enough that another process gets the write lock within its timeout. */
const ROWS_PER_BATCH = 2000;

interface Rebuild {
  table: 'contacts' | 'audiences' | 'visits';
  /** Version of the tables from which values are derived. */
  tables?: string;
  clear(connection: Connection): void;
  /** Rebuilds at most `limit` rows after a key. Returns the last key; undefined if there was no row. */
  batch(session: WriteSession, after: bigint, limit: number): bigint | undefined;
}

const rebuilds: readonly Rebuild[] = [
  {
    ...textRebuild<ContactBody>('contacts', 'contact_terms', CONTACT_COLUMNS, contactColumns, rebuildContact),
    tables: TITLE_TABLES_VERSION,
  },
  textRebuild<AudienceBody>(
    'audiences',
    'audience_terms',
    AUDIENCE_COLUMNS,
    audienceColumns,
    rebuildAudience,
  ),
  { table: 'visits', clear: () => {}, batch: rebuildVisits },
];

/**
 * Resolves once all derived data follows the rules of this version. After an interruption, the next call continues. Processes that call
 * this at the same time take turns, batch by batch.
 */
export async function rebuildDerived(connection: Connection, onProgress?: RebuildProgress): Promise<void> {
  const pending = rebuilds.filter((each) => !isCurrent(connection, each));
  if (pending.length === 0) return;
  const session = new WriteSession(connection);
  for (const rebuild of pending) {
    const { table } = rebuild;
    const count = sql`SELECT count(*) FROM ${identifier(table)}`;
    const total = connection.number(count) as number;
    const rebuiltTo = stateOf(connection, table)?.rebuiltTo ?? 0n;
    let done = connection.number(sql`${count} WHERE key <= ?`, rebuiltTo) as number;
    while (!session.transaction(() => rebuildBatch(session, rebuild))) {
      done = Math.min(done + ROWS_PER_BATCH, total);
      onProgress?.(table, done, total);
      await yieldToEventLoop();
    }
  }
}

/** Returns whether all rows are rebuilt. */
function rebuildBatch(session: WriteSession, rebuild: Rebuild): boolean {
  const { connection } = session;
  const { table, tables, clear, batch } = rebuild;
  if (isCurrent(connection, rebuild)) return true;
  let after = 0n;
  const state = stateOf(connection, table);
  if (hasVersions(state, rebuild)) after = state?.rebuiltTo ?? 0n;
  else clear(connection);
  const last = batch(session, after, ROWS_PER_BATCH);
  connection.run(
    sql`INSERT OR REPLACE INTO derived (name, version, tables, rebuilt_to) VALUES (?, ?, ?, ?)`,
    table,
    SEARCH_RULES_VERSION,
    tables ?? null,
    last ?? null,
  );
  return last === undefined;
}

interface State {
  version: number;
  tables: string | null;
  rebuiltTo: bigint | null;
}

function stateOf(connection: Connection, table: string): State | undefined {
  const row = connection.row<[bigint, string | null, bigint | null]>(
    sql`SELECT version, tables, rebuilt_to FROM derived WHERE name = ?`,
    table,
  );
  return row && { version: Number(row[0]), tables: row[1], rebuiltTo: row[2] };
}

const hasVersions = (state: State | undefined, { tables }: Rebuild): boolean =>
  state?.version === SEARCH_RULES_VERSION && state.tables === (tables ?? null);

function isCurrent(connection: Connection, rebuild: Rebuild): boolean {
  const state = stateOf(connection, rebuild.table);
  return hasVersions(state, rebuild) && state?.rebuiltTo === null;
}

function textRebuild<Body>(
  table: 'contacts' | 'audiences',
  index: TextIndex,
  columnNames: readonly Sql[],
  columnsOf: (encoder: TermEncoder, body: Body) => string[],
  /** Rewrites a row and returns its body. */
  rebuildRow: (connection: Connection, key: bigint, json: string) => Body,
): Rebuild {
  return {
    table,
    clear(connection) {
      // New rules change which contacts a filter finds, although the contacts themselves do not change.
      if (table === 'contacts') beginEpoch(connection);
      connection.run(sql`INSERT INTO ${INDEX_NAMES[index]} (${INDEX_NAMES[index]}) VALUES ('delete-all')`);
      connection.run(sql`DELETE FROM vocabulary WHERE indexed = ?`, TEXT_INDEXES[index]);
    },
    batch(session, after, limit) {
      const rows = session.connection.rows<[bigint, bigint, bigint, string]>(
        sql`SELECT key, organization, position, body FROM ${identifier(table)}
          WHERE key > ? AND position IS NOT NULL ORDER BY key LIMIT ?`,
        after,
        limit,
      );
      const changes = session.indexChanges(index, columnNames);
      for (const [key, organization, position, json] of rows) {
        const body = rebuildRow(session.connection, key, json);
        const encoder = new TermEncoder(Number(organization));
        changes.add(position, columnsOf(encoder, body));
        session.addWords(index, Number(organization), encoder.takeWords());
      }
      return rows.at(-1)?.[0];
    },
  };
}

function rebuildContact(connection: Connection, key: bigint, json: Json<Contact>): ContactBody {
  const contact = parseContact(json, null);
  const { country } = searchableValues(contact.body);
  const { last_name, company_name } = sortValues(contact.body);
  connection.run(
    sql`UPDATE contacts SET country = ?, last_name = ?, company_name = ?, domain = ?, body = ? WHERE key = ?`,
    country,
    last_name,
    company_name,
    contactDomain(contact.body),
    contactJson(contact),
    key,
  );
  return contact.body;
}

function rebuildAudience(connection: Connection, key: bigint, json: string): AudienceBody {
  const body = audienceBody(JSON.parse(json) as AudienceRecord);
  connection.run(sql`UPDATE audiences SET body = ? WHERE key = ?`, JSON.stringify(body), key);
  return body;
}

function rebuildVisits({ connection }: WriteSession, after: bigint, limit: number): bigint | undefined {
  const rows = connection.rows<[bigint, ...(string | null)[], string]>(
    sql`SELECT key, country, other_country, city, browser, platform, start_url, company_domain, body FROM visits
      WHERE key > ? ORDER BY key LIMIT ?`,
    after,
    limit,
  );
  for (const [key, ...rest] of rows) {
    const before = rest.slice(0, -1);
    const { countries, city, browser, platform, startUrl, companyDomain } = searchableVisit(
      JSON.parse(rest.at(-1) as string) as Visit,
    );
    const places = [countries[0] ?? null, countries[1] ?? null, city];
    const values = [...places, browser, platform, startUrl, companyDomain];
    if (values.every((value, index) => value === before[index])) continue;
    connection.run(
      sql`UPDATE visits SET country = ?, other_country = ?, city = ?, browser = ?, platform = ?, start_url = ?,
        company_domain = ? WHERE key = ?`,
      ...values,
      key,
    );
  }
  return rows.at(-1)?.[0];
}
