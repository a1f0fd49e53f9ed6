/** Companies by domain and influence at scale, beside the same questions in DuckDB over the same rows. Both sides must give the same figures. */
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ingestText } from '../ingest/pipeline.js';
import { contacts } from '../ingest/streams/contacts.js';
import { websiteVisits } from '../ingest/streams/website-visits.js';
import { addDays, lastOfMonth } from '../services/advertising/calendar.js';
import { ensureDir } from '../services/shared/fs.js';
import { acceptanceClock } from '../services/shared/record-order.js';
import { DAY_MS, utcDate } from '../services/shared/time.js';
import { openStores } from '../services/stores/open-stores.js';
import { loadDeliveries } from './delivery-scale.js';
import { type Comparison, compare, type Figure, figure, percentile } from './measure.js';
import { installPackages } from './peers/packages.js';
import { exportDeliveries, post, startDuckDb } from './peers.js';
import { cpuMs } from './processor-time.js';
import { startServer, stopServer } from './scale.js';
import { randomSource, syntheticContacts } from './synthetic-contacts.js';
import { type DeliveryShape, deliveryShape, organizationOf } from './synthetic-deliveries.js';

/** At most; fewer with few deliveries. */
const COMPANIES = 50_000;
/** Domains of visits and people: those of the companies, and as many more as this share of them. */
const DOMAINS_WITHOUT_ADS = 0.1;
const SEARCHES = 200;
const SEARCHES_A_ROUND = 20;
const INFLUENCE_CALLS = 12;
const ROUNDS = 5;
const MAX_SEARCH_MS = 1000;
const MAX_INFLUENCE_MS = 3000;

export interface CompanyAmounts {
  deliveries: number;
  visits: number;
  people: number;
}

const ORGANIZATION = organizationOf(0);

/** Makes the records in the folder, unless an earlier run left them there. */
export async function benchCompanies(
  folder: string,
  amounts: CompanyAmounts,
  note: (text: string) => void,
): Promise<(Comparison | Figure)[]> {
  installPackages();
  const visits = join(folder, 'visits.ndjson');
  const people = join(folder, 'people.ndjson');
  const shapeFile = join(folder, 'shape.json');
  const isKept = existsSync(shapeFile);
  const shape = isKept
    ? (JSON.parse(readFileSync(shapeFile, 'utf8')) as DeliveryShape)
    : deliveryShape(amounts.deliveries, 1, COMPANIES, utcDate(Date.now()));
  if (!isKept) {
    ensureDir(dirname(folder));
    await loadDeliveries(folder, shape, note);
    note('exporting deliveries …');
    await exportDeliveries(folder);
    await writeLines(visits, visitRecords(shape, amounts.visits));
    await writeLines(people, contactRecords(shape, amounts.people));
    await importRecords(folder, visits, people, note);
    writeFileSync(shapeFile, JSON.stringify(shape));
  }
  rmSync(join(folder, 'peer.duckdb'), { force: true });
  const server = await startServer(folder);
  const duckDb = await startDuckDb(folder);
  try {
    const key = await server.keyFor(ORGANIZATION);
    const serverPid = server.child.pid as number;
    for (const sql of tablesOf(visits, people)) await post(duckDb.url, '', JSON.stringify({ sql }));
    const ask = ({ path, body }: Question) => post(server.url + path, key, JSON.stringify(body));
    const askPeer = ({ sql }: Question) => post(duckDb.url, '', JSON.stringify({ sql }));
    const measure = async (name: string, questions: readonly Question[], bound: number) => {
      note(`${name} …`);
      const times: number[] = [];
      const answers: string[] = [];
      const before = cpuMs(serverPid);
      for (const question of questions) {
        const begun = performance.now();
        answers.push(await ask(question));
        times.push(performance.now() - begun);
      }
      const cpu = (cpuMs(serverPid) - before) / questions.length;
      const slowest = times.indexOf(Math.max(...times));
      process.stderr.write(`${name}, slowest: ${JSON.stringify(questions[slowest]?.body)}\n`);
      note(`${name}: comparing with DuckDB …`);
      for (const [index, question] of questions.entries())
        requireSame(question, answers[index] as string, await askPeer(question));
      const among = `${name} among ${describe(shape, amounts)}`;
      const some = questions.slice(0, SEARCHES_A_ROUND);
      const timed = (pid: number, each: (question: Question) => Promise<string>) => async () => {
        const begun = cpuMs(pid);
        for (const question of some) await each(question);
        return (cpuMs(pid) - begun) / some.length;
      };
      return [
        figure(`${among}, first call`, 'ms', times[0] as number, {}),
        figure(`${among}, p50`, 'ms', percentile(times, 50), {}),
        figure(`${among}, p99`, 'ms', percentile(times, 99), { atMost: bound }),
        figure(`${among}, CPU per call`, 'ms', cpu, {}),
        await compare(
          `${name} ÷ DuckDB, ${describe(shape, amounts)}`,
          'ms',
          {},
          ROUNDS,
          timed(serverPid, ask),
          timed(duckDb.pid, askPeer),
        ),
      ];
    };
    return [
      ...(await measure('companies/search', searchQuestions(shape), MAX_SEARCH_MS)),
      ...(await measure('influence over a year', influenceQuestions(shape), MAX_INFLUENCE_MS)),
    ];
  } finally {
    await Promise.all([stopServer(server), duckDb.stop()]);
  }
}

const describe = ({ companies }: DeliveryShape, { deliveries, visits, people }: CompanyAmounts) => {
  const of = (count: number, what: string) => `${count.toLocaleString('en')} ${what}`;
  return `${of(deliveries, 'deliveries')}, ${of(visits, 'visits')} and ${of(people, 'people')} of ${of(companies, 'companies')}`;
};

const rangeOf = ({ months }: DeliveryShape) => ({
  start: months[0] as string,
  end: lastOfMonth(months.at(-1) as string),
});

/** Draws domains: a few have many records, most have few. */
function domains({ companies }: DeliveryShape, random: () => number): () => string {
  const count = Math.round(companies * (1 + DOMAINS_WITHOUT_ADS));
  return () => {
    const number = Math.floor(random() ** 2 * count);
    return number < companies ? `company-${number}.example` : `visitor-${number}.example`;
  };
}

/** Draws moments of the year, in milliseconds since the epoch. */
function moments(shape: DeliveryShape, random: () => number): () => string {
  const { start, end } = rangeOf(shape);
  const from = Date.parse(start);
  const length = Date.parse(end) + DAY_MS - from;
  return () => new Date(from + Math.floor(random() * length)).toISOString();
}

function* visitRecords(shape: DeliveryShape, count: number) {
  const random = randomSource(11);
  const domain = domains(shape, random);
  const moment = moments(shape, random);
  for (let index = 0; index < count; index++)
    yield {
      id: `vis_${index}`,
      organizationId: ORGANIZATION,
      createdAt: moment(),
      startUrl: `https://www.shop.example/page-${Math.floor(random() * 200)}`,
      country: 'Germany',
      browser: 'Firefox',
      // A tenth of the visits has no company.
      companyDomain: random() < 0.9 ? domain() : null,
    };
}

/** People with a company domain, with an email of the company alone, with both, and with neither. */
function* contactRecords(shape: DeliveryShape, count: number) {
  const random = randomSource(12);
  const domain = domains(shape, random);
  const moment = moments(shape, random);
  let index = 0;
  for (const contact of syntheticContacts(count, 1)) {
    const kind = random();
    const own = domain();
    yield {
      ...contact,
      organization_id: ORGANIZATION,
      created_at: moment(),
      company_domain: kind < 0.6 ? own : null,
      work_emails: [`person${index++}@${kind < 0.85 && kind > 0.1 ? own : 'mail.example'}`],
    };
  }
}

async function writeLines(file: string, records: Iterable<object>): Promise<void> {
  const blocks = function* () {
    let block = '';
    for (const record of records) {
      block += `${JSON.stringify(record)}\n`;
      if (block.length < 1024 * 1024) continue;
      yield block;
      block = '';
    }
    yield block;
  };
  await pipeline(Readable.from(blocks()), createWriteStream(file));
}

async function importRecords(
  dataDir: string,
  visits: string,
  people: string,
  note: (text: string) => void,
): Promise<void> {
  const stores = await openStores({ dataDir, searchProcesses: 1 });
  try {
    const load = async (stream: typeof contacts | typeof websiteVisits, file: string) => {
      const { rejected } = await ingestText({
        stream: stream as typeof contacts,
        stores,
        source: createReadStream(file, { highWaterMark: 1024 * 1024 }),
        format: 'ndjson',
        acceptance: await acceptanceClock(stores.records)(),
        onProgress: (accepted) => note(`${accepted} ${stream.name}`),
      });
      if (rejected > 0) throw new Error(`${rejected} ${stream.name} were rejected`);
    };
    await load(websiteVisits, visits);
    await load(contacts, people);
  } finally {
    await stores.close();
  }
}

interface Question {
  path: string;
  body: object;
  /** The same question to DuckDB. Its answer has `figures`, which `figuresOf` finds in ours. */
  sql: string;
  figuresOf(answer: never): unknown;
}

function requireSame({ path, body, figuresOf }: Question, ours: string, peer: string): void {
  const figures = JSON.stringify(figuresOf(JSON.parse(ours) as never));
  if (figures === JSON.stringify(JSON.parse(peer))) return;
  throw new Error(`${path} ${JSON.stringify(body)}: ${figures.slice(0, 500)} and ${peer.slice(0, 500)}`);
}

/** Tables beside those of the deliveries. Both kinds of domains of people are looked up once, as an index does. */
const tablesOf = (visits: string, people: string) => [
  `CREATE TABLE visits AS SELECT companyDomain AS domain, createdAt AS moment, createdAt::DATE AS day
FROM read_json('${visits}', columns = {companyDomain: 'VARCHAR', createdAt: 'TIMESTAMP'}) ORDER BY domain, moment`,
  `CREATE TABLE people AS SELECT * FROM read_json('${people}',
columns = {contact_id: 'VARCHAR', created_at: 'TIMESTAMP', company_domain: 'VARCHAR', work_emails: 'VARCHAR[]'})`,
  `CREATE TABLE known AS SELECT DISTINCT domain, contact_id FROM (
SELECT contact_id, company_domain AS domain FROM people UNION ALL SELECT contact_id, split_part(unnest(work_emails), '@', 2) FROM people
) WHERE domain IS NOT NULL ORDER BY 1, 2`,
  `CREATE TABLE placed AS SELECT coalesce(company_domain, split_part(work_emails[1], '@', 2)) AS domain, created_at::DATE AS day
FROM people ORDER BY 1, 2`,
];

const quote = (value: string) => `'${value.replaceAll("'", "''")}'`;
const quotedList = (values: readonly string[]) => values.map(quote).join(', ');

interface SearchBody {
  start_date: string;
  end_date: string;
  sort_by: string;
  sort_direction: string;
  page: number;
  page_size: number;
  search?: string;
  campaign_ids?: string[];
  domains?: string[];
}

/** Pages as the console and exports to other systems ask for them. */
function searchQuestions(shape: DeliveryShape): Question[] {
  const random = randomSource(13);
  const domain = domains(shape, random);
  const { start, end } = rangeOf(shape);
  const oneOf = <T>(...values: T[]) => values[Math.floor(random() * values.length)] as T;
  return Array.from({ length: SEARCHES }, () => {
    const days = oneOf(7, 7, 30, 30, 90, 365);
    const sort_by = oneOf('engagements', 'engagements', 'impressions', 'visits', 'last_visit', 'name');
    const body: SearchBody = {
      start_date: days === 365 ? start : addDays(end, 1 - days),
      end_date: end,
      sort_by,
      sort_direction: sort_by === 'name' ? 'asc' : 'desc',
      page: oneOf(1, 1, 1, 2, 3, 40),
      page_size: oneOf(50, 50, 50, 200),
    };
    const filter = random();
    if (filter < 0.15) body.search = 'a1';
    else if (filter < 0.3) body.campaign_ids = ['cmp_0000', 'cmp_0001', 'cmp_0002'].slice(0, shape.campaigns);
    else if (filter < 0.4) body.domains = [...new Set(Array.from({ length: 20 }, domain))];
    return { path: '/api/companies/search', body, sql: searchSql(body), figuresOf: searchFigures };
  });
}

const searchFigures = ({ total_count, items }: { total_count: number; items: SearchItem[] }) => ({
  total_count,
  items: items.map(({ domain, network_a, visits, contacts }) => [
    domain,
    ...[network_a.impressions, network_a.clicks, network_a.engagements].map(String),
    ...[visits.count, contacts.count].map(String),
  ]),
});
interface SearchItem {
  domain: string;
  network_a: { impressions: number; clicks: number; engagements: number };
  visits: { count: number };
  contacts: { count: number };
}

const ofCompanies = (campaignIds?: readonly string[]) => `company_deliveries AS d
JOIN companies AS c ON c.id = d.company_id AND c.organization_id = d.organization_id
WHERE d.organization_id = ${quote(ORGANIZATION)}${campaignIds ? ` AND d.campaign_id IN (${quotedList(campaignIds)})` : ''}`;

function searchSql({ start_date, end_date, sort_by, sort_direction, ...body }: SearchBody): string {
  const { page, page_size, search, campaign_ids, domains } = body;
  const order = `${sort_by === 'name' ? 'name_key' : sort_by} ${sort_direction} NULLS LAST, domain`;
  const found =
    search === undefined ? 'true' : `contains(name_key, '${search}') OR contains(domain, '${search}')`;
  const named = domains
    ? `RIGHT JOIN (SELECT unnest([${quotedList(domains)}]) AS domain) USING (domain)`
    : '';
  return `
WITH ads AS (
  SELECT c.domain, sum(impressions) AS impressions, sum(clicks) AS clicks, sum(engagements) AS engagements
  FROM ${ofCompanies(campaign_ids)} AND date BETWEEN '${start_date}' AND '${end_date}' GROUP BY 1),
seen AS (
  SELECT domain, count(*) AS visits, max(moment) AS last_visit FROM visits
  WHERE domain IS NOT NULL AND day BETWEEN '${start_date}' AND '${end_date}' GROUP BY 1),
found AS (
  SELECT domain, name_key, last_visit,
    ${['impressions', 'clicks', 'engagements', 'visits'].map((name) => `coalesce(${name}, 0)::BIGINT AS ${name}`).join(', ')}
  FROM ads FULL JOIN seen USING (domain) ${named} LEFT JOIN (SELECT domain, name_key FROM companies) USING (domain) WHERE ${found}),
page AS (SELECT * FROM found ORDER BY ${order} LIMIT ${page_size} OFFSET ${(page - 1) * page_size}),
counted AS (SELECT domain, count(*) AS contacts FROM known WHERE domain IN (SELECT domain FROM page) GROUP BY 1)
SELECT to_json({total_count: (SELECT count(*) FROM found), items: coalesce(list(
  [domain, impressions::VARCHAR, clicks::VARCHAR, engagements::VARCHAR, visits::VARCHAR, coalesce(contacts, 0)::VARCHAR] ORDER BY ${order}), [])})
FROM page LEFT JOIN counted USING (domain)`;
}

interface InfluenceBody {
  start_date: string;
  end_date: string;
  thresholds: Record<string, number>;
  sort_by: string;
  page: number;
}

const LOOKBACK_DAYS = 30;
const OUTCOME_DAYS = 30;
const INFLUENCE_PAGE = 50;

/** Thresholds that few enough companies reach. */
function influenceQuestions(shape: DeliveryShape): Question[] {
  const { start: start_date, end: end_date } = rangeOf(shape);
  return Array.from({ length: INFLUENCE_CALLS }, (_, index) => {
    const body: InfluenceBody = {
      start_date,
      end_date,
      thresholds: index % 2 === 0 ? { clicks: 4 } : { engagements: 5 },
      sort_by: index % 3 === 0 ? 'exposed_on' : 'visits',
      page: 1 + (index % 4),
    };
    return {
      path: '/api/advertising/network_a/influence',
      body: { ...body, page_size: INFLUENCE_PAGE },
      sql: influenceSql(body),
      figuresOf: influenceFigures,
    };
  });
}

const influenceFigures = ({ totals, items }: { totals: InfluenceTotals; items: InfluenceItem[] }) => ({
  exposed: totals.exposed,
  influenced: totals.influenced,
  newly_influenced: totals.newly_influenced,
  items: items.map(({ domain, exposed_on, known_before, contacts, visits }) => [
    ...[domain, exposed_on, String(known_before), String(contacts), String(visits)],
  ]),
});
type InfluenceTotals = Record<'exposed' | 'influenced' | 'newly_influenced', number>;
interface InfluenceItem {
  domain: string;
  exposed_on: string;
  known_before: boolean;
  contacts: number;
  visits: number;
}

/** The evidence of the page is left out. */
function influenceSql({ start_date, end_date, thresholds, sort_by, page }: InfluenceBody): string {
  const [[metric, least]] = Object.entries(thresholds) as [[string, number]];
  const order = `${sort_by === 'visits' ? 'visits' : 'day'} DESC, domain`;
  const isAfter = (day: string) => `${day} > e.day AND ${day} <= e.day + ${OUTCOME_DAYS}`;
  return `
WITH daily AS (
  SELECT c.domain, d.date, sum(${metric}) AS total FROM ${ofCompanies()}
  AND date BETWEEN DATE '${start_date}' - ${LOOKBACK_DAYS - 1} AND '${end_date}' GROUP BY 1, 2),
days AS (SELECT * FROM daily UNION ALL SELECT DISTINCT domain, DATE '${start_date}', 0 FROM daily),
windows AS (
  SELECT domain, date, sum(total) OVER (
    PARTITION BY domain ORDER BY date RANGE BETWEEN INTERVAL ${LOOKBACK_DAYS - 1} DAYS PRECEDING AND CURRENT ROW) AS total
  FROM days),
e AS (SELECT domain, min(date) AS day FROM windows WHERE date >= '${start_date}' AND total >= ${least} GROUP BY 1),
people AS (
  SELECT e.domain, count(*) FILTER (${isAfter('p.day')}) AS contacts, bool_or(p.day <= e.day) AS known
  FROM e JOIN placed AS p USING (domain) GROUP BY 1),
seen AS (
  SELECT e.domain, count(*) FILTER (${isAfter('v.day')}) AS visits, bool_or(v.day <= e.day AND v.day > e.day - ${LOOKBACK_DAYS}) AS known
  FROM e JOIN visits AS v USING (domain) GROUP BY 1),
joined AS (
  SELECT domain, day, coalesce(contacts, 0) AS contacts, coalesce(visits, 0) AS visits,
    coalesce(people.known, false) OR coalesce(seen.known, false) AS known, coalesce(contacts, 0) + coalesce(visits, 0) > 0 AS influenced
  FROM e LEFT JOIN people USING (domain) LEFT JOIN seen USING (domain)),
page AS (SELECT * FROM joined ORDER BY ${order} LIMIT ${INFLUENCE_PAGE} OFFSET ${(page - 1) * INFLUENCE_PAGE})
SELECT to_json({exposed: (SELECT count(*) FROM joined), influenced: (SELECT count(*) FROM joined WHERE influenced),
  newly_influenced: (SELECT count(*) FROM joined WHERE influenced AND NOT known),
  items: coalesce(list([domain, day::VARCHAR, known::VARCHAR, contacts::VARCHAR, visits::VARCHAR] ORDER BY ${order}), [])})
FROM page`;
}
