/** What Elasticsearch finds without Reachline: the same records in text fields, and the queries that people write first. */
import type { Client, estypes } from '@elastic/elasticsearch';
import { fold } from '../../services/shared/text.js';
import { type JudgedQuery, rightIds } from './judged-query.js';
import { RECORD_SETS } from './record-sets.js';

const FIELDS = [
  ...['first_name', 'last_name', 'job_title', 'functional_area', 'company_name', 'company_domain', 'city'],
  ...['state_region', 'country', 'postal_code', 'work_emails', 'personal_emails', 'phones', 'network_a_url'],
];

type PlainQuery = (query: string) => estypes.QueryDslQueryContainer;

export const PLAIN_QUERIES: Record<string, PlainQuery> = {
  'most_fields AUTO': (query) => ({
    multi_match: { query, type: 'most_fields', fuzziness: 'AUTO', fields: FIELDS },
  }),
  'bool of cross_fields, best_fields AUTO and bool_prefix': (query) => ({
    bool: {
      should: [
        { multi_match: { query, type: 'cross_fields', operator: 'and', fields: FIELDS, boost: 3 } },
        { multi_match: { query, type: 'cross_fields', fields: FIELDS } },
        { multi_match: { query, type: 'best_fields', fuzziness: 'AUTO', fields: FIELDS } },
        { multi_match: { query, type: 'bool_prefix', fields: FIELDS } },
      ],
    },
  }),
};

const SHOWN = 50;

/** Indexes the mixed records, folded as Reachline folds them. */
export async function indexPlainly(client: Client, index: string): Promise<void> {
  await client.indices.create({
    index,
    settings: { number_of_shards: 1 },
    mappings: { properties: Object.fromEntries(FIELDS.map((name) => [name, { type: 'text' as const }])) },
  });
  const operations = RECORD_SETS.mixed.contacts.flatMap(({ id, fields }) => [
    { index: { _id: id } },
    Object.fromEntries(FIELDS.map((name) => [name, foldAll((fields as Record<string, unknown>)[name])])),
  ]);
  const { errors } = await client.bulk({ index, operations, refresh: true });
  if (errors) throw new Error(`some records were not indexed in ${index}`);
}

const foldAll = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(foldAll) : typeof value === 'string' ? fold(value) : undefined;

/** Where the right records are. */
export async function askPlainly(
  client: Client,
  index: string,
  toQuery: PlainQuery,
  queries: readonly JudgedQuery[],
): Promise<{ judged: JudgedQuery; rank: number | null; isFirst: boolean; isAmongThree: boolean }[]> {
  const answers = [];
  for (const judged of queries) {
    const { hits } = await client.search({
      index,
      size: SHOWN,
      _source: false,
      query: toQuery(fold(judged.query ?? '')),
    });
    const right = rightIds(judged, RECORD_SETS[judged.set]);
    const at = hits.hits.findIndex(({ _id }) => right.has(_id as string));
    const rank = at === -1 ? null : at + 1;
    answers.push({ judged, rank, isFirst: rank === 1, isAmongThree: rank !== null && rank <= 3 });
  }
  return answers;
}
