import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { estypes } from '@elastic/elasticsearch';
import { SEARCH_RULES_VERSION } from '../../../search/rules-version.js';
import { TITLE_TABLES_VERSION } from '../../../search/titles.js';
import { packageRoot } from '../../../shared/fs.js';
import { monthFrom, partsOfMonth } from '../../../shared/month.js';
import {
  endsBefore,
  logDrops,
  planDrops,
  type RetentionLog,
  type StoredMonth,
  type VisitMonth,
} from '../../../visits/retention.js';
import { MigrationNeededError, UnreleasedVersionError } from '../../common/migrations.js';
import type { Cluster } from '../client.js';
import { unavailable } from '../errors.js';

export const RESOURCES = [
  'contacts',
  'audiences',
  'visits',
  'keys',
  'accounts',
  'idempotency',
  'streams',
  'erasures',
  'rejections',
  'filters',
  'jobs',
  'migrations',
] as const;
export type Resource = (typeof RESOURCES)[number];
/** All resources except the index that holds the reindex lock. */
export const REINDEXABLE: readonly Resource[] = RESOURCES.filter((name) => name !== 'migrations');

/** Definition from which an index is created. All its fields except settings and mappings are stored in the `_meta` of the index. */
export interface Definition {
  version: number;
  checksum: string;
  /** Version of the rules and tables of `services/search` by which fields are derived. */
  rules?: string;
  settings: estypes.IndicesIndexSettings;
  mappings: estypes.MappingTypeMapping;
}

const SEARCH_RULES = String(SEARCH_RULES_VERSION);
const RULES: { [name in Resource]?: string } = {
  contacts: `${SEARCH_RULES}-${TITLE_TABLES_VERSION}`,
  audiences: SEARCH_RULES,
  visits: SEARCH_RULES,
};

export function readDefinition(
  resource: Resource,
  folder = join(packageRoot, 'mappings/elasticsearch'),
): Definition {
  const text = readFileSync(join(folder, `${resource}.json`), 'utf8');
  const { version, settings, mappings } = JSON.parse(text) as Omit<Definition, 'checksum'>;
  const checksum = createHash('sha256')
    .update(JSON.stringify([settings, mappings]))
    .digest('hex');
  return { version, checksum, rules: RULES[resource], settings, mappings };
}

/** Names of indices and aliases. The name of an index ends with its version and generation: `reachline-contacts-v1-1`. */
export class IndexNames {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** Alias for all reads, and for all writes except visits. */
  alias(resource: Resource): string {
    return `${this.prefix}-${resource}`;
  }

  /** The alias to which visits of a month are written. */
  monthAlias(month: VisitMonth): string {
    return `${this.alias('visits')}-${nameOfMonth(month)}`;
  }

  /** The month of an alias from `monthAlias`; null for other aliases. */
  monthOfAlias(alias: string): VisitMonth | null {
    const first = `${this.alias('visits')}-`;
    return alias.startsWith(first) ? monthOfName(alias.slice(first.length)) : null;
  }

  index(alias: string, version: number, generation: number): string {
    return `${alias}-v${version}-${generation}`;
  }
}

/** Name of a month in names of indices: `2026.01` or `other`. */
function nameOfMonth(stored: VisitMonth): string {
  if (stored.kind === 'other') return 'other';
  const { year, month } = partsOfMonth(stored.month);
  return `${year}.${String(month).padStart(2, '0')}`;
}

function monthOfName(name: string): VisitMonth | null {
  if (name === 'other') return { kind: 'other' };
  const [, year, number] = /^(\d{4})\.(\d\d)$/.exec(name) ?? [];
  const month = monthFrom(Number(year), Number(number));
  return month === null ? null : { kind: 'month', month };
}

/** An index with a write alias. */
export interface LiveIndex {
  index: string;
  alias: string;
  version: number;
  generation: number;
  checksum: string;
  rules?: string;
  layout: ShardLayout;
}

/** Fields of a definition that the `_meta` of an index repeats. */
interface Meta extends Pick<Definition, 'checksum' | 'rules'> {
  definition_version: number;
}

const unreleased = (index: string) =>
  new UnreleasedVersionError(`The Elasticsearch index ${index}`, 'new indices (ELASTICSEARCH_INDEX_PREFIX)');

const replicaRange = ({ layout }: Cluster) => `0-${layout.replicas}`;

/** The number of shards of an index, and the number of these shards over which an organization is spread. */
export interface ShardLayout {
  shards: number;
  perOrganization: number;
}

/** An index whose definition has one shard is small, so the settings do not apply. */
export const shardLayout = ({ layout }: Cluster, { settings }: Definition): ShardLayout =>
  Number(settings.number_of_shards) > 1
    ? { shards: layout.shards, perOrganization: layout.shardsPerOrganization }
    : { shards: 1, perOrganization: 1 };

function withLayout(cluster: Cluster, definition: Definition): estypes.IndicesIndexSettings {
  const { shards, perOrganization } = shardLayout(cluster, definition);
  return {
    ...definition.settings,
    number_of_shards: shards,
    routing_partition_size: perOrganization,
    auto_expand_replicas: replicaRange(cluster),
  };
}

/** Sets the replicas of existing indices. */
export async function setReplicas(cluster: Cluster, names: IndexNames): Promise<void> {
  await cluster.run((client) =>
    client.indices.putSettings({
      index: `${names.prefix}-*`,
      settings: { 'index.auto_expand_replicas': replicaRange(cluster) },
    }),
  );
}

/** Creates an index with its aliases, unless another process has created it. */
export async function createIndex(
  cluster: Cluster,
  index: string,
  definition: Definition,
  aliases: readonly string[],
): Promise<void> {
  const { version, checksum, rules, mappings } = definition;
  await cluster
    .run((client) =>
      client.indices.create(
        {
          index,
          settings: withLayout(cluster, definition),
          mappings: { ...mappings, _meta: { definition_version: version, checksum, rules } satisfies Meta },
          aliases: Object.fromEntries(aliases.map((alias) => [alias, {}])),
          // The response comes once the index accepts writes.
          wait_for_active_shards: 1,
        },
        { ignore: [400] },
      ),
    )
    .then((response) => {
      const { error } = response as { error?: { type?: string; reason?: string } };
      if (error && error.type !== 'resource_already_exists_exception') {
        throw unavailable(`${error.type}: ${error.reason}`);
      }
    });
}

/** The indices of the alias of a resource. */
async function liveIndices(cluster: Cluster, names: IndexNames, resource: Resource): Promise<LiveIndex[]> {
  const all = names.alias(resource);
  const response = await cluster.run((client) =>
    client.indices.get({ index: all, features: ['aliases', 'mappings', 'settings'] }, { ignore: [404] }),
  );
  if ('error' in response) return [];
  return Object.entries(response as estypes.IndicesGetResponse).map(
    ([index, { aliases = {}, mappings, settings }]) => {
      const meta = (mappings?._meta ?? {}) as Partial<Meta>;
      // Only unreleased versions stored the version of a definition as `version`.
      if ('version' in meta) throw unreleased(index);
      const { definition_version: version = 0, checksum = '', rules } = meta;
      const own = Object.keys(aliases).filter((alias) => alias !== all);
      return {
        index,
        alias: own[0] ?? all,
        version,
        checksum,
        rules,
        layout: {
          shards: Number(settings?.index?.number_of_shards ?? 1),
          perOrganization: Number(settings?.index?.routing_partition_size ?? 1),
        },
        generation: Number(/-v\d+-(\d+)/.exec(index)?.[1] ?? 0),
      };
    },
  );
}

/** Every resource with its definition and live indices (empty if there are none). Throws `UnreleasedVersionError`. */
export async function readIndices(
  cluster: Cluster,
  names: IndexNames,
  folder?: string,
): Promise<{ resource: Resource; definition: Definition; live: LiveIndex[] }[]> {
  const all = RESOURCES.map(async (resource) => ({
    resource,
    definition: readDefinition(resource, folder),
    live: await liveIndices(cluster, names, resource),
  }));
  return Promise.all(all);
}

/** Creates an index for each resource that has none. */
export async function createMissingIndices(
  cluster: Cluster,
  names: IndexNames,
  folder?: string,
): Promise<void> {
  for (const { resource, definition, live } of await readIndices(cluster, names, folder)) {
    if (live.length > 0) continue;
    if (resource === 'visits') {
      // A search before the first visit needs the alias.
      await ensureMonthIndex(cluster, names, { kind: 'other' }, folder);
      continue;
    }
    const alias = names.alias(resource);
    await createIndex(cluster, names.index(alias, definition.version, 1), definition, [alias]);
  }
}

/** Creates missing indices and checks the others. Throws `MigrationNeededError` and `UnreleasedVersionError`. */
export async function ensureIndices(cluster: Cluster, names: IndexNames): Promise<void> {
  await createMissingIndices(cluster, names);
  for (const { definition, live } of await readIndices(cluster, names)) {
    const outdated = live.find((each) => needsReindex(each, definition));
    if (!outdated) continue;
    throw new MigrationNeededError(
      `The index ${outdated.index} is of version ${versionOf(outdated)}, this Reachline needs version ${versionOf(definition)}. Run: reachline migrate`,
    );
  }
}

/** The number of search rules such as `10-3`; NaN if it is unknown. */
const numberOfRules = (rules: string | undefined) => Number.parseInt(rules ?? '', 10);

const versionOf = ({ version, rules }: { version: number; rules?: string }): string =>
  rules === undefined ? String(version) : `${version} with rules ${rules}`;

/**
 * Whether the index has an older version, or values derived by other rules or tables. Throws `UnreleasedVersionError` for another definition
 * of the same version, because definitions of a release never change, and `MigrationNeededError` for a newer version or newer rules.
 */
export function needsReindex(
  { index, version, checksum, rules }: LiveIndex,
  definition: Definition,
): boolean {
  if (version < definition.version) return true;
  const isNewer = version > definition.version || numberOfRules(rules) > numberOfRules(definition.rules);
  if (isNewer) {
    throw new MigrationNeededError(
      `The index ${index} is of version ${versionOf({ version, rules })}, newer than this Reachline, which knows version ${versionOf(definition)}. Use a newer Reachline.`,
    );
  }
  if (checksum !== definition.checksum) throw unreleased(index);
  return rules !== definition.rules;
}

/**
 * Deletes the indices of months that end before a moment, in milliseconds since the epoch. Resolves with the number of deleted visits.
 * First reads the newest visit of each index, and keeps the index if that visit is not older than the moment.
 */
export async function dropMonthsBefore(
  cluster: Cluster,
  names: IndexNames,
  beforeMs: number,
  log?: RetentionLog,
): Promise<number> {
  const months: StoredMonth[] = [];
  for (const { index, alias } of await liveIndices(cluster, names, 'visits')) {
    const month = names.monthOfAlias(alias);
    if (month && endsBefore(month, beforeMs))
      months.push({ name: index, month, ...(await contentsOf(cluster, index)) });
  }
  const plan = planDrops(months, beforeMs);
  logDrops(log, plan);
  let visits = 0;
  for (const { name, visits: held } of plan.dropped) {
    await cluster.run((client) => client.indices.delete({ index: name }, { ignore: [404] }));
    visits += held;
  }
  return visits;
}

/** Counts the visits of an index and finds the newest, including visits that searches do not show yet. */
async function contentsOf(
  cluster: Cluster,
  index: string,
): Promise<Pick<StoredMonth, 'visits' | 'newestMs'>> {
  await cluster.run((client) => client.indices.refresh({ index }));
  const { hits, aggregations } = await cluster.run((client) =>
    client.search({
      index,
      size: 0,
      track_total_hits: true,
      aggs: { newest: { max: { field: 'created_at' } } },
    }),
  );
  const { value } = (aggregations as { newest: estypes.AggregationsMaxAggregate }).newest;
  return { visits: (hits.total as estypes.SearchTotalHits).value, newestMs: value ?? null };
}

/**
 * Creates the index of a month. The index joins the alias for searches once its shards are active; before that, the index would fail every
 * search.
 */
export async function ensureMonthIndex(
  cluster: Cluster,
  names: IndexNames,
  month: VisitMonth,
  folder?: string,
): Promise<void> {
  const alias = names.monthAlias(month);
  const all = names.alias('visits');
  const definition = readDefinition('visits', folder);
  let behind = await aliasesBehind(cluster, alias);
  if (behind.length === 0) {
    await createIndex(cluster, names.index(alias, definition.version, 1), definition, [alias]);
    behind = await aliasesBehind(cluster, alias);
  }
  for (const { index, aliases } of behind) {
    if (aliases.has(all)) continue;
    await cluster.run((client) => client.cluster.health({ index, wait_for_status: 'yellow' }));
    await cluster.run((client) => client.indices.putAlias({ index, name: all }));
  }
}

async function aliasesBehind(
  cluster: Cluster,
  alias: string,
): Promise<{ index: string; aliases: Set<string> }[]> {
  const response = await cluster.run((client) =>
    client.indices.getAlias({ index: alias }, { ignore: [404] }),
  );
  if ('error' in response) return [];
  return Object.entries(response as estypes.IndicesGetAliasResponse).map(([index, { aliases }]) => ({
    index,
    aliases: new Set(Object.keys(aliases)),
  }));
}
