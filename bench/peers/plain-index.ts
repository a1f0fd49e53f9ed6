/** Contacts in Elasticsearch as a competent engineer writes them in a day: raw records, one field of all words, filters as keywords. */
import type { Client, estypes } from '@elastic/elasticsearch';
import type { SyntheticContact } from '../synthetic-contacts.js';
import type { PeerSearch } from './contact-work.js';

export const PLAIN_INDEX = 'peer-contacts';
const FILTERS = ['organization_id', 'contact_id', 'country', 'job_title', 'company_domain', 'city'];
const WORDS = [
  'first_name',
  'last_name',
  'functional_area',
  'company_name',
  'work_emails',
  'postal_code',
  'phones',
  'network_a_url',
];

export async function createPlainIndex(client: Client): Promise<void> {
  const copied = { copy_to: 'all' } as const;
  await client.indices.create({
    index: PLAIN_INDEX,
    settings: { number_of_shards: 1, number_of_replicas: 0 },
    mappings: {
      dynamic: false,
      properties: {
        created_at: { type: 'date', format: 'epoch_millis' },
        all: { type: 'text', index_prefixes: { min_chars: 2, max_chars: 5 } },
        ...Object.fromEntries(FILTERS.map((name) => [name, { type: 'keyword' as const, ...copied }])),
        ...Object.fromEntries(
          WORDS.map((name) => [name, { type: 'text' as const, index: false, ...copied }]),
        ),
      },
    },
  });
}

/** The body of a bulk request, of records as lines. */
export function bulkBody(lines: string): string {
  const created = JSON.stringify(Date.now());
  const documents = lines.split('\n').map((line) => {
    const { organization_id, contact_id } = JSON.parse(line) as SyntheticContact;
    return `{"index":{"_id":"${organization_id}:${contact_id}"}}\n{"created_at":${created},${line.slice(1)}\n`;
  });
  return documents.join('');
}

export function plainRequest({
  organizationId,
  equals = {},
  words,
  facets,
  limit,
}: PeerSearch): estypes.SearchRequest {
  const filter = [
    { term: { organization_id: organizationId } },
    ...Object.entries(equals).map(([name, value]) => ({ term: { [name]: value } })),
  ];
  const must: estypes.QueryDslQueryContainer[] | undefined =
    words === undefined
      ? undefined
      : [
          {
            bool: {
              should: [
                { match: { all: { query: words, operator: 'and', boost: 3 } } },
                { match_bool_prefix: { all: { query: words, operator: 'and', boost: 2 } } },
                { match: { all: { query: words, operator: 'and', fuzziness: 'AUTO:4,8' } } },
              ],
              minimum_should_match: 1,
            },
          },
        ];
  return {
    track_total_hits: true,
    size: limit,
    query: { bool: { filter, must } },
    ...(must ? {} : { sort: [{ created_at: 'desc' }, { contact_id: 'asc' }] }),
    aggs: facets && Object.fromEntries(facets.map((name) => [name, { terms: { field: name, size: 10 } }])),
  } as estypes.SearchRequest;
}
