/**
 * `postgres.js <connection string>`: contacts in PostgreSQL behind fastify, as a competent engineer writes it in a day. Words match exactly or as
 * beginnings; trigrams are looked at where nothing was found. Sends its address to its parent.
 */
import { createHash } from 'node:crypto';
import type { PeerSearch } from '../peers/contact-work.js';
import { requirePeer } from '../peers/packages.js';
import type { SyntheticContact } from '../synthetic-contacts.js';

interface Pool {
  query(statement: string | { name: string; text: string; values: unknown[] }): Promise<{ rows: never[] }>;
}
interface App {
  addContentTypeParser(type: string, options: object, parse: (...args: never[]) => void): void;
  post(path: string, handle: (request: { body: never }, reply: Reply) => Promise<unknown>): void;
  listen(options: object): Promise<string>;
}
interface Reply {
  type(name: string): Reply;
}
const { Pool } = requirePeer('pg') as { Pool: new (options: object) => Pool };
const fastify = requirePeer('fastify') as (options: object) => App;

const COLUMNS = ['country', 'job_title', 'company_domain', 'city'] as const;

const pool = new Pool({ connectionString: process.argv[2], max: 8 });
await pool.query(`
CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE TABLE IF NOT EXISTS contacts (
  organization_id text, contact_id text, created_at bigint, ${COLUMNS.map((name) => `${name} text`).join(', ')}, words text,
  vector tsvector GENERATED ALWAYS AS (to_tsvector('simple', words)) STORED, body text, PRIMARY KEY (organization_id, contact_id));
CREATE INDEX IF NOT EXISTS newest ON contacts (organization_id, created_at DESC, contact_id);
${['country', 'company_domain'].map((name) => `CREATE INDEX IF NOT EXISTS by_${name} ON contacts (organization_id, ${name}, created_at DESC, contact_id);`).join('\n')}
CREATE INDEX IF NOT EXISTS by_word ON contacts USING gin (organization_id, vector);
CREATE INDEX IF NOT EXISTS by_letters ON contacts USING gin (organization_id, words gin_trgm_ops)`);

const wordsOf = (contact: SyntheticContact) =>
  [
    contact.first_name,
    contact.last_name,
    contact.job_title,
    contact.company_name,
    contact.company_domain,
    contact.city,
    contact.country,
  ]
    .concat(contact.work_emails)
    .join(' ')
    .toLowerCase();

async function upsert(lines: string): Promise<number> {
  const now = Date.now();
  const rows = lines
    .split('\n')
    .filter(Boolean)
    .map((body) => ({ contact: JSON.parse(body) as SyntheticContact, body }));
  const column = (value: (row: (typeof rows)[number]) => unknown) => rows.map(value);
  const values = [
    column(({ contact }) => contact.organization_id),
    column(({ contact }) => contact.contact_id),
    column(() => now),
    ...COLUMNS.map((name) => column(({ contact }) => contact[name])),
    column(({ contact }) => wordsOf(contact)),
    column(({ body }) => body),
  ];
  const text = `INSERT INTO contacts (organization_id, contact_id, created_at, ${COLUMNS.join(', ')}, words, body)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], ${[...COLUMNS, 'words', 'body'].map((_, index) => `$${index + 4}::text[]`).join(', ')})
ON CONFLICT (organization_id, contact_id) DO UPDATE SET words = excluded.words, body = excluded.body,
  ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}`;
  await pool.query({ name: 'upsert', text, values });
  return rows.length;
}

async function search({ organizationId, equals = {}, words, facets = [], limit }: PeerSearch) {
  const conditions = [
    'organization_id = $1',
    ...Object.keys(equals).map((name, index) => `${name} = $${index + 2}`),
  ];
  const values: unknown[] = [organizationId, ...Object.values(equals)];
  if (words === undefined) return page(conditions, values, limit, facets);
  const last = conditions.length + 1;
  const terms = words.toLowerCase().split(' ');
  const exact = await page(
    [...conditions, `vector @@ to_tsquery('simple', $${last})`],
    [...values, terms.map((term) => `${term}:*`).join(' & ')],
    limit,
  );
  if (exact.total > 0) return exact;
  return page([...conditions, `$${last} <% words`], [...values, words.toLowerCase()], limit);
}

async function page(conditions: string[], values: unknown[], limit: number, facets: readonly string[] = []) {
  const where = `FROM contacts WHERE ${conditions.join(' AND ')}`;
  const read = async (text: string) =>
    (await pool.query({ name: createHash('md5').update(text).digest('hex'), text, values })).rows;
  const [found, [counted], ...counts] = await Promise.all([
    read(`SELECT body ${where} ORDER BY created_at DESC, contact_id LIMIT ${limit}`),
    read(`SELECT count(*)::int AS total ${where}`),
    ...facets.map((name) =>
      read(`SELECT ${name} AS value, count(*)::int AS count ${where} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`),
    ),
  ]);
  const { total } = counted as unknown as { total: number };
  return {
    found: found as { body: string }[],
    total,
    facets: Object.fromEntries(facets.map((name, index) => [name, counts[index]])),
  };
}

const app = fastify({ bodyLimit: 64 * 1024 * 1024 });
app.addContentTypeParser(
  'application/x-ndjson',
  { parseAs: 'string' },
  (_request: never, body: never, done: (error: null, body: never) => void) => done(null, body),
);
app.post('/upsert', async ({ body }) => ({ accepted: await upsert(body) }));
app.post('/search', async ({ body }, reply) => {
  const { found, total, facets } = await search(body);
  reply.type('application/json');
  return `{"contacts":[${found.map((row) => row.body).join(',')}],"total_count":${total},"facets":${JSON.stringify(facets)}}`;
});
app.post('/get', async ({ body }, reply) => {
  const { organization_id, contact_id } = body as { organization_id: string; contact_id: string };
  const text = 'SELECT body FROM contacts WHERE organization_id = $1 AND contact_id = $2';
  const { rows } = await pool.query({ name: 'get', text, values: [organization_id, contact_id] });
  reply.type('application/json');
  return (rows[0] as unknown as { body: string }).body;
});
app.post('/settle', async () => {
  await pool.query('VACUUM ANALYZE contacts');
  const { rows } = await pool.query("SELECT pg_total_relation_size('contacts')::text AS bytes");
  return rows[0];
});
process.once('disconnect', () => process.exit());
process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
