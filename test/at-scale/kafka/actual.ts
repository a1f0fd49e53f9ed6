/** Reads the stored records of some organizations directly from the servers, by key. */
import { createClient } from '@clickhouse/client';
import { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import type { ClickHouseConfig, ElasticsearchConfig } from '../../../services/shared/config.js';
import { contactState } from './histories.js';

/** Returns pairs of key and state. */
async function rowsOf(
  { urls: [url], username, password }: ClickHouseConfig,
  query: string,
  organizations: readonly string[],
): Promise<[key: string, state: string][]> {
  const client = createClient({ url, username, password });
  const answer = await client.query({
    query: `${query} AND has({organizations:Array(String)}, organization_id)`,
    query_params: { organizations },
    format: 'JSONCompactEachRow',
  });
  const rows = await answer.json<[string, string]>();
  await client.close();
  return rows;
}

export async function actualDeliveries(
  config: ClickHouseConfig,
  organizations: readonly string[],
): Promise<Map<string, string>> {
  const query = `SELECT concat(organization_id, '/', toString(date), '/', campaign_id, '/', creative_id),
      concat(toString(impressions), '|', toString(clicks), '|', toString(round(ad_spend, 2)))
      FROM ${config.database}_tables.creative_deliveries FINAL
      WHERE campaign_id != ''`;
  return new Map(
    (await rowsOf(config, query, organizations)).map(([key, state]) => {
      const [impressions, clicks, spent] = state.split('|');
      return [key, [impressions, clicks, Number(spent).toFixed(2)].join('|')];
    }),
  );
}

/** The visits that SQL reads. */
export async function queriedVisits(
  config: ClickHouseConfig,
  organizations: readonly string[],
): Promise<Map<string, string>> {
  const query = `SELECT concat(organization_id, '/', visit_id, '/', toString(toUnixTimestamp64Milli(created_at))), city
      FROM ${config.database}.website_visits
      WHERE visit_id != ''`;
  const rows = await rowsOf(config, query, organizations);
  expect(new Set(rows.map(([key]) => key)).size, 'each visit is there once').to.equal(rows.length);
  return new Map(rows);
}

export const actualVisits = (config: ElasticsearchConfig, organizations: readonly string[]) =>
  everything(config, 'visits', organizations, ({ visit = '' }) => {
    const { organizationId, id, createdAt, city } = JSON.parse(visit);
    return [`${organizationId}/${id}/${Date.parse(createdAt)}`, city];
  });

export const actualContacts = (config: ElasticsearchConfig, organizations: readonly string[]) =>
  everything(config, 'contacts', organizations, ({ contact: json = '{}' }) => {
    const contact = JSON.parse(json) as { organization_id?: string; contact_id?: string };
    return [`${contact.organization_id}/${contact.contact_id}`, contactState(contact)];
  });

interface KeptRecord {
  /** JSON. */
  visit?: string;
  contact?: string;
}

async function everything(
  { nodes, indexPrefix }: ElasticsearchConfig,
  resource: string,
  organizations: readonly string[],
  /** The key and the state of a stored record. */
  stateOf: (source: KeptRecord) => [string, string],
): Promise<Map<string, string>> {
  const client = new Client({ nodes });
  const states = new Map<string, string>();
  await client.indices.refresh({ index: `${indexPrefix}-${resource}` });
  const documents = client.helpers.scrollDocuments<KeptRecord>({
    index: `${indexPrefix}-${resource}`,
    size: 5000,
    query: { terms: { organization_id: [...organizations] } },
  });
  for await (const source of documents) {
    const [key, state] = stateOf(source);
    expect(states.has(key), `${key} is there once`).to.equal(false);
    states.set(key, state);
  }
  await client.close();
  return states;
}

/** Compares by key, and shows the first differences. */
export function expectSame(actual: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): void {
  const differences: string[] = [];
  for (const [key, state] of expected) {
    if (actual.get(key) !== state) differences.push(`${key} is ${actual.get(key)}, not ${state}`);
  }
  for (const key of actual.keys()) if (!expected.has(key)) differences.push(`${key} should not be there`);
  expect(differences.slice(0, 10), `${differences.length} differ`).to.deep.equal([]);
}
