import { type FacetCount, MAX_FACET_VALUES } from '../../search/facets.js';
import type { Json } from '../../shared/json.js';
import type { OrderedRecord } from '../../shared/record-order.js';
import { EMPTY_SQL, identifier, joinSql, type Sql, sql } from '../../shared/sql.js';
import { DAY_MS, parseTimestamp, utcDate } from '../../shared/time.js';
import { MAX_COUNTED_VISITS } from '../../visits/retention.js';
import type { Visit, VisitFacet, VisitRecord } from '../../visits/schema.js';
import { searchableVisit, toVisit, visitOrder, winner } from '../../visits/stored-visit.js';
import {
  MAX_FACET_DAYS,
  type VisitingCompanies,
  type VisitingCompaniesSearch,
  type VisitSearch,
} from '../../visits/visit-store.js';
import { rowsToFetch } from '../common/page-builder.js';
import type { Connection, SqlValue } from './connection.js';
import { findOrganizationKey } from './organizations.js';
import { buildPage, emptyPage, type JsonPage } from './pages.js';
import { type SteppedWork, steppedFrom } from './writes/stepped-work.js';
import { type BatchResult, type IsTimeUp, writeBatch } from './writes/write-batch.js';
import type { WriteSession } from './writes/write-session.js';

/** Visits per deleting statement, which takes about a millisecond. */
const DELETED_PER_STATEMENT = 100;

/** A key that no visit has had. */
const NEW_KEY = sql`1 + (SELECT max(value, coalesce((SELECT max(key) FROM visits), 0)) FROM counters WHERE name = 'deleted_visit')`;

/** Inserts visits until time is up. Among several records with the same id and creation time, the `winner` stays. */
export function insertVisits(
  session: WriteSession,
  records: readonly OrderedRecord<VisitRecord>[],
  isTimeUp: IsTimeUp,
): BatchResult {
  return writeBatch(session, 'visits', records, isTimeUp, (record) => insertVisit(session, record));
}

function insertVisit(session: WriteSession, ordered: OrderedRecord<VisitRecord>): void {
  const { record } = ordered;
  const { connection } = session;
  const organization = session.organizationKey(record.organizationId);
  const createdMs = parseTimestamp(record.createdAt);
  const visit = toVisit(record, createdMs);
  const { countries, city, browser, platform, address, startUrl, companyDomain } = searchableVisit(visit);
  const recordOrder = visitOrder(ordered);
  const body = JSON.stringify(visit) as Json<Visit>;
  const insert = () =>
    connection.run(
      sql`INSERT INTO visits (key, organization, created_ms, id, audience, country, other_country, city, browser, platform,
         has_recording, intent_score, address, start_url, company_domain, body, record_order)
       VALUES (${NEW_KEY}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      organization,
      createdMs,
      visit.id,
      visit.audienceId,
      countries[0] ?? null,
      countries[1] ?? null,
      city,
      browser,
      platform,
      visit.hasRecording === null ? null : Number(visit.hasRecording),
      visit.intentScore,
      address,
      startUrl,
      companyDomain,
      body,
      recordOrder,
    );
  if (insert() > 0) {
    session.count('visits', organization);
    return;
  }
  // Looked up only on a conflict, because nearly every visit is new.
  const [key, order, stored] = connection.row(
    sql`SELECT key, record_order, body FROM visits WHERE organization = ? AND id = ? AND created_ms = ?`,
    organization,
    visit.id,
    createdMs,
  ) as [bigint, string, Json<Visit>];
  const before = { visit: stored, recordOrder: order };
  if (winner(before, { visit: body, recordOrder }) === before) return;
  connection.run(sql`DELETE FROM visits WHERE key = ?`, key);
  insert();
}

/** Number of visits before a moment; counting stops at `MAX_COUNTED_VISITS`. */
export function countVisitsBefore(connection: Connection, createdMs: number): number {
  let visits = 0;
  for (const [organization] of connection.rows<[bigint]>(
    sql`SELECT key FROM organizations WHERE visits > 0`,
  )) {
    visits += Number(
      connection.number(
        sql`SELECT count(*) FROM (SELECT 1 FROM visits WHERE organization = ? AND created_ms < ? LIMIT ?)`,
        Number(organization),
        createdMs,
        MAX_COUNTED_VISITS - visits,
      ),
    );
    if (visits >= MAX_COUNTED_VISITS) break;
  }
  return visits;
}

/** Deletes at most `limit` visits before a moment. Returns the number of deleted visits. */
export function deleteVisitsBefore(
  session: WriteSession,
  createdMs: number,
  limit: number,
): SteppedWork<number> {
  return steppedFrom<DeletedVisits, number>(
    { deleted: 0, organization: firstOrganization(session.connection, 0) },
    ({ deleted, organization }) => {
      if (organization === undefined) return { deleted, organization };
      const count = session.connection.run(
        sql`DELETE FROM visits WHERE key IN
           (SELECT key FROM visits WHERE organization = ? AND created_ms < ? ORDER BY created_ms LIMIT ?)`,
        organization,
        createdMs,
        Math.min(limit - deleted, DELETED_PER_STATEMENT),
      );
      if (count > 0) {
        session.count('visits', organization, -count);
        return { deleted: deleted + count, organization };
      }
      return { deleted, organization: firstOrganization(session.connection, organization + 1) };
    },
    ({ deleted, organization }) => (organization === undefined || deleted >= limit ? deleted : undefined),
  );
}

interface DeletedVisits {
  deleted: number;
  /** The organization whose visits are deleted next; undefined if none has visits. */
  organization: number | undefined;
}

const firstOrganization = (connection: Connection, fromKey: number): number | undefined =>
  connection.number(
    sql`SELECT key FROM organizations WHERE visits > 0 AND key >= ? ORDER BY key LIMIT 1`,
    fromKey,
  );

export function searchVisits(connection: Connection, search: VisitSearch): JsonPage<Visit, VisitFacet> {
  return connection.readTransaction(() => {
    const organization = findOrganizationKey(connection, search.organizationId);
    if (organization === undefined) return emptyPage(search.facets);
    const filter = conditions(organization, search);
    const { where, values } = filter;
    const isNarrowed = values.length > 1;
    const { after } = search;
    const isCounted = !after || !search.skipsTotal;
    const { table, count } = filter.counted;
    const total = (
      isNarrowed && isCounted
        ? connection.number(sql`SELECT ${count} FROM ${table} WHERE ${where}`, ...values)
        : connection.number(sql`SELECT visits FROM organizations WHERE key = ?`, organization)
    ) as number;
    const rows =
      total === 0
        ? []
        : connection.rows<[bigint, string, bigint]>(
            sql`SELECT created_ms, id, key FROM visits
              WHERE ${where} ${after ? sql`AND (created_ms, id) < (?, ?)` : EMPTY_SQL}
              ORDER BY created_ms DESC, id DESC LIMIT ?`,
            ...values,
            ...(after ? [after.createdAt, after.id] : []),
            rowsToFetch(search.limit),
          );
    return buildPage(withBodies(connection, rows), isCounted ? total : 0, {
      limit: search.limit,
      facets:
        search.facets &&
        Object.fromEntries(search.facets.map((facet) => [facet, countFacet[facet](connection, filter)])),
      toJson: ([, , body]) => body,
      sortKeyOf: ([createdMs, id]) => ({ rank: 0, createdAt: Number(createdMs), id }),
    });
  });
}

/** How many times as long it takes to group a visit in the order of time as in the order of companies. */
const GROUPING_COST = 12;

/**
 * Counts visits by company over `visits_by_company`, which has the rows of a company side by side. If few of the visits are in the range,
 * counts them over `visits_by_time`.
 */
export function countVisitsByCompany(
  connection: Connection,
  { limit, domains, ...search }: VisitingCompaniesSearch,
): VisitingCompanies {
  return connection.readTransaction(() => {
    const organization = findOrganizationKey(connection, search.organizationId);
    if (organization === undefined) return { companies: [], withoutDomain: 0 };
    const { where, values, counted } = conditions(organization, { ...search, limit: 0 });
    const all = connection.number(
      sql`SELECT ${counted.count} FROM ${counted.table} WHERE ${where}`,
      ...values,
    ) as number;
    const visits = connection.number(sql`SELECT visits FROM organizations WHERE key = ?`, organization) ?? 0;
    const [byTime, byCompany] = [identifier('visits_by_time'), identifier('visits_by_company')];
    const byRange = all * GROUPING_COST < visits ? byTime : byCompany;
    const placed = (index: Sql) =>
      sql`FROM visits INDEXED BY ${index} WHERE ${where} AND company_domain IS NOT NULL`;
    const companies = connection
      .rows<[string, bigint, bigint]>(
        sql`SELECT company_domain, count(*), max(created_ms) ${placed(domains ? byCompany : byRange)}
          ${domains ? sql`AND company_domain IN (SELECT value FROM json_each(?))` : EMPTY_SQL}
          GROUP BY company_domain LIMIT ?`,
        ...values,
        ...(domains ? [JSON.stringify(domains)] : []),
        limit,
      )
      .map(([domain, count, lastMs]) => ({ domain, count: Number(count), lastMs: Number(lastMs) }));
    const allPlaced = domains
      ? (connection.number(sql`SELECT count(*) ${placed(byRange)}`, ...values) as number)
      : companies.reduce((sum, { count }) => sum + count, 0);
    return { companies, withoutDomain: all - allPlaced };
  });
}

/**
 * Table of visits per day, in which searches count. Conditions use only columns that mean the same in both tables. `day` is the start of a
 * day in milliseconds.
 */
const COUNTED_DAYS = {
  table: identifier('visit_days'),
  count: sql`coalesce(sum(visits), 0)`,
  day: sql`created_ms`,
};
const COUNTED_VISITS = {
  table: identifier('visits'),
  count: sql`count(*)`,
  // A remainder has the sign of its dividend, so days are counted from a day before all others.
  day: sql`created_ms - (created_ms + ${100_000_000 * DAY_MS}) % ${DAY_MS}`,
};

/**
 * Whether `visit_days` suffices to count matches: the table has every value that the search names, and each day matches completely or not
 * at all.
 */
function isOfWholeDays({
  audienceId,
  city,
  companyDomain,
  address,
  startUrl,
  minIntentScore,
  ...search
}: VisitSearch): boolean {
  const { createdFrom = 0, createdBefore = 0 } = search;
  const others = [audienceId, city, companyDomain, address, startUrl, minIntentScore];
  return (
    others.every((value) => value === undefined) && createdFrom % DAY_MS === 0 && createdBefore % DAY_MS === 0
  );
}

const countFacet: { [name in VisitFacet]: (connection: Connection, filter: Conditions) => FacetCount[] } = {
  day: (connection, { where, values, counted: { table, count, day } }) =>
    connection
      .rows<[bigint, bigint]>(
        sql`SELECT ${day} AS day, ${count} FROM ${table}
          WHERE ${where} GROUP BY day ORDER BY day DESC LIMIT ${MAX_FACET_DAYS}`,
        ...values,
      )
      .reverse()
      .map(([day, visits]) => ({ value: utcDate(Number(day)), count: Number(visits) })),
  company_domain: (connection, { where, values }) =>
    connection
      .rows<[string, bigint]>(
        sql`SELECT company_domain, count(*) FROM visits WHERE ${where} AND company_domain IS NOT NULL
          GROUP BY company_domain ORDER BY 2 DESC, 1 LIMIT ${MAX_FACET_VALUES}`,
        ...values,
      )
      .map(([value, visits]) => ({ value, count: Number(visits) })),
};

/** Reads all bodies that have room on the page in one statement. */
function* withBodies(
  connection: Connection,
  rows: readonly [createdMs: bigint, id: string, key: bigint][],
): Generator<[createdMs: bigint, id: string, body: Json<Visit>], void> {
  const bodies = connection.each<[Json<Visit>]>(
    sql`SELECT v.body FROM json_each(?) k CROSS JOIN visits v ON v.key = k.value`,
    `[${rows.map(([, , key]) => key).join(',')}]`,
  );
  let index = 0;
  for (const [body] of bodies) {
    const [createdMs, id] = rows[index++] as [bigint, string, bigint];
    yield [createdMs, id, body];
  }
  if (index < rows.length) throw new Error('a found visit has no row');
}

interface Conditions {
  where: Sql;
  values: SqlValue[];
  /** The table in which matches are counted. */
  counted: typeof COUNTED_VISITS;
}

function conditions(organization: number, search: VisitSearch): Conditions {
  const where = [sql`organization = ?`];
  const values: SqlValue[] = [organization];
  const add = (condition: Sql, ...given: SqlValue[]) => {
    where.push(condition);
    values.push(...given);
  };
  const { country, browser, platform, address } = search;
  if (search.audienceId !== undefined) add(sql`audience = ?`, search.audienceId);
  if (country !== undefined) add(sql`(country = ? OR other_country = ?)`, country, country);
  if (search.city !== undefined) add(sql`city = ?`, search.city);
  if (search.companyDomain !== undefined) add(sql`company_domain = ?`, search.companyDomain);
  if (browser !== undefined) add(sql`instr(browser, ?) > 0`, browser);
  if (platform !== undefined) add(sql`instr(platform, ?) > 0`, platform);
  if (search.hasRecording !== undefined) add(sql`has_recording = ?`, Number(search.hasRecording));
  if (address) add(sql`address BETWEEN ? AND ?`, address.from, address.to);
  if (search.startUrl !== undefined) add(sql`instr(start_url, ?) > 0`, search.startUrl);
  if (search.createdFrom !== undefined) add(sql`created_ms >= ?`, search.createdFrom);
  if (search.createdBefore !== undefined) add(sql`created_ms < ?`, search.createdBefore);
  if (search.minIntentScore !== undefined) add(sql`intent_score >= ?`, search.minIntentScore);
  const counted = isOfWholeDays(search) ? COUNTED_DAYS : COUNTED_VISITS;
  return { where: joinSql(where, ' AND '), values, counted };
}
