/** Loads records of its source (test/data/presets) with every preset by the command, and reads them back through the operations. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { PRESETS } from '../../ingest/presets/index.js';
import { PRESET_FILES } from '../ingest/preset-files.js';
import { useGateway } from '../support/gateway.js';
import { run } from './support.js';

const DATA = 'test/data/presets';

interface Load {
  preset: string;
  file: string;
  accepted: number;
  /** Number of records of another kind in the same file. */
  skipped?: number;
  with?: string[];
  /** Name of the preset, if the file holds several kinds and cannot be recognized. */
  named?: boolean;
}
type Row = Record<string, unknown>;
/** Fields that each item must have, by id; their values were computed by hand. */
type Expected = Load & { answers: keyof typeof OPERATIONS; items: Record<string, Row> };

const RANGE = { start_date: '2017-01-01', end_date: '2026-01-01', granularity: 'monthly', page_size: 200 };
const OPERATIONS = {
  campaigns: ['advertising/network_a/campaigns', 'items', RANGE],
  creatives: ['advertising/network_a/creatives', 'items', RANGE],
  companies: ['advertising/network_a/companies', 'items', RANGE],
  contacts: ['contacts/search', 'contacts', {}],
  visits: ['website-visits/search', 'visits', {}],
} as const;
const EXPECTED = JSON.parse(readFileSync(`${DATA}/expected.json`, 'utf8')) as Expected[];

/** An amount without trailing zeros. */
const plain = (value: unknown) =>
  typeof value === 'string' && /^\d+\.\d+$/.test(value) ? value.replace(/\.?0+$/, '') : value;

describe('Presets', () => {
  const gateway = useGateway();
  let organizations = 0;

  /** Runs the command for a separate organization. */
  async function ingest(stream: string, preset: string, file: string, others: string[] = []) {
    const organization_id = `org_${++organizations}`;
    const key = await gateway.keyFor(organization_id);
    const path = (each: string) => `${DATA}/${each}`;
    const withOthers = others.flatMap((each) => ['--with', path(each)]);
    const outcome = await run(['ingest', stream, path(file), ...withOthers, '--preset', preset], {
      env: { REACHLINE_URL: gateway.url, REACHLINE_API_KEY: key },
    });
    const items = async (answers: Expected['answers']) => {
      const [operation, name, range] = OPERATIONS[answers];
      const scope = answers === 'contacts' || answers === 'visits' ? { organization_id } : {};
      const { body, text } = await gateway.call(`/api/${operation}`, { ...scope, ...range }, { key });
      expect(body, text).to.have.property(name);
      return body[name] as Row[];
    };
    return { ...outcome, items };
  }

  /** Loads the file, and checks the output of the command. */
  async function load({ preset, file, accepted, skipped, named, with: others }: Load) {
    const stream = PRESETS[preset]?.stream ?? '';
    const loaded = await ingest(stream, named ? preset : 'auto', file, others);
    if (!named) expect(loaded.stderr).to.include(preset);
    expect(loaded.code, loaded.stderr).to.equal(0);
    const more = skipped ? `, ${skipped} skipped` : '';
    expect(loaded.stdout).to.match(new RegExp(`${accepted} accepted( \\(.+?\\))?, 0 rejected${more}`));
    return loaded;
  }

  for (const { answers, items, ...each } of EXPECTED) {
    it(`${each.preset} loads ${each.file}`, async () => {
      const found = await (await load(each)).items(answers);
      expect(found.map(({ id }) => id)).to.have.members(Object.keys(items));
      for (const item of found) {
        const fields = Object.entries(item).map(([name, value]) => [name, plain(value)]);
        expect(Object.fromEntries(fields)).to.deep.include(items[String(item.id)]);
      }
    });
  }

  it('fivetran-linkedin loads the seeds of its dbt package', async () => {
    const file = '../linkedin_ad_analytics_by_creative.csv.gz';
    const preset = 'fivetran-linkedin/ad_analytics_by_creative';
    const campaigns = await (await load({ preset, file, accepted: 100 })).items('campaigns');
    const rows: Row[] = parse(gunzipSync(readFileSync(`${DATA}/${file}`)), { columns: true });
    const sum = (of: Row[], name: string) => of.reduce((total, row) => total + Number(row[name] || 0), 0);
    for (const [name, column] of [
      ['impressions', 'impressions'],
      ['clicks', 'clicks'],
      ['conversions', 'external_website_conversions'],
    ] as const)
      expect(sum(campaigns, name), name).to.equal(sum(rows, column));
  });

  const rejections: [what: string, file: string, stream: string, message: RegExp][] = [
    [
      'that fit a file of several tables are named, as one has to be chosen',
      'airbyte-linkedin-ads/expected_records.jsonl',
      'network-a-deliveries',
      /ad_campaign_analytics[\s\S]*ad_creative_analytics[\s\S]*ad_member_company_analytics/,
    ],
    [
      'of another stream are named with it',
      'hubspot/contacts.csv',
      'website-visits',
      /HubSpot.* belongs to the stream contacts \(--preset hubspot\/contacts\)/,
    ],
    [
      'that come closest are named with what they miss',
      'fivetran-linkedin/campaign_group_history.csv',
      'network-a-campaigns',
      /No preset fits.*fivetran-linkedin\/campaign_history comes closest; it misses "campaign_group_id"/,
    ],
  ];
  for (const [what, file, stream, message] of rejections) {
    it(what, async () => expect((await ingest(stream, 'auto', file)).stderr).to.match(message));
  }

  it('each have a test', () => {
    const tested = new Set([...EXPECTED.map(({ preset }) => preset), ...Object.keys(PRESET_FILES)]);
    expect(Object.keys(PRESETS).filter((name) => !tested.has(name))).to.deep.equal([]);
  });
});
