import { createTopics, findOtherSettings } from '../../../ingest/sources/kafka/topics.js';
import { type Config, type Credentials, loadConfig } from '../../shared/config.js';
import { createClickHouseAccount } from '../../stores/clickhouse/account.js';
import { grantAccess } from '../../stores/clickhouse/migrations/access.js';
import { migrateReplicas } from '../../stores/clickhouse/migrations/migrate-replicas.js';
import { createElasticsearchAccount } from '../../stores/elasticsearch/account.js';
import { REINDEXABLE, type Resource } from '../../stores/elasticsearch/migrations/indices.js';
import { migrateElasticsearch } from '../../stores/elasticsearch/migrations/migrate.js';
import { openStores } from '../../stores/open-stores.js';
import { describeLockHolder } from '../check-servers.js';
import { CommandError, UsageError } from '../errors.js';
import { type Io, printErr, printOut } from '../io.js';
import { withKafka } from '../kafka.js';
import { Progress } from '../progress.js';

export interface MigrateOptions {
  /** Names of indices separated by commas. */
  rebuild?: string;
  /** First creates the users that Reachline connects with. */
  bootstrap?: boolean;
}

/** Creates and upgrades everything in all stores. An embedded store is upgraded when it opens. */
export async function migrate(io: Io, options: MigrateOptions): Promise<void> {
  const config = loadConfig(io.env);
  const reindexed = options.rebuild === undefined ? [] : parseResources(options.rebuild);
  if (options.bootstrap) await bootstrap(io, config);
  const progress = await Progress.start(io);
  if (config.elasticsearch) {
    const made = await migrateElasticsearch(config.elasticsearch, {
      reindexed,
      onProgress: (index, copied, total) =>
        progress.update(`${index}: ${copied} of ${total} documents`, copied, total),
      onWait: (holder) => printErr(io, `Waiting: ${describeLockHolder(holder)}.`),
      onRetry: (error) =>
        printErr(
          io,
          `Reindexing starts over: ${((error as Error).cause as Error | undefined)?.message ?? error}`,
        ),
    }).finally(() => progress.end());
    for (const index of made) printErr(io, `${index} is in use now.`);
  } else if (reindexed.length > 0) {
    throw new UsageError('--rebuild is for Elasticsearch indices; ELASTICSEARCH_URL is not set.');
  }
  if (config.clickhouse?.cluster) await migrateReplicas(config.clickhouse);
  const stores = await openStores(config, {
    onRebuild: (what, done, total) => progress.update(`${what}: ${done} of ${total} rebuilt`, done, total),
  }).finally(() => progress.end());
  await stores.close();
  const analystsBy = options.bootstrap ? config.admins.clickhouse : null;
  if (config.clickhouse && !(await grantAccess({ ...config.clickhouse, ...analystsBy }))) {
    printErr(
      io,
      `ClickHouse does not allow ${config.clickhouse.username} to create roles, so the role of analysts was not created: see docs/reference/sql.md.`,
    );
  }
  if (config.kafka) {
    const made = await withKafka(io, createTopics);
    for (const topic of made) printErr(io, `The topic ${topic} was created.`);
    for (const other of await withKafka(io, findOtherSettings)) printErr(io, `${other}.`);
  }
  printOut(io, 'The stores are up to date.');
}

/** Names of users that need no quoting in statements and addresses. */
const ACCOUNT_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

async function bootstrap(io: Io, { elasticsearch, clickhouse, admins }: Config): Promise<void> {
  const search = elasticsearch && {
    config: elasticsearch,
    ...forAccount('ELASTICSEARCH', elasticsearch.basic, admins.elasticsearch),
  };
  const analytics = clickhouse && {
    config: clickhouse,
    ...forAccount('CLICKHOUSE', clickhouse, admins.clickhouse),
  };
  if (search) {
    await createElasticsearchAccount(search.config, search.account, search.admin).catch(
      explainRejection('Elasticsearch', search.admin, 'it has users only with xpack.security.enabled'),
    );
    printErr(io, `Elasticsearch has the user ${search.account.username}.`);
  }
  if (analytics) {
    await createClickHouseAccount(analytics.config, analytics.admin).catch(
      explainRejection('ClickHouse', analytics.admin, 'the user needs access management'),
    );
    printErr(io, `ClickHouse has the user ${analytics.account.username}.`);
  }
  if (!search && !analytics) {
    throw new UsageError(
      '--bootstrap is for stores on servers; neither ELASTICSEARCH_URL nor CLICKHOUSE_URL is set.',
    );
  }
}

/** HTTP statuses of Elasticsearch and error codes of ClickHouse that mean: wrong credentials, not allowed, or users are read-only. */
const REJECTIONS = new Set(['400', '401', '403', '405', '192', '193', '194', '495', '497', '514', '516']);

function explainRejection(server: string, { username }: Credentials, hint: string) {
  return (error: unknown): never => {
    const { statusCode, code } = ((error as Error).cause ?? {}) as { statusCode?: number; code?: string };
    if (!REJECTIONS.has(String(statusCode ?? code))) throw error;
    throw new CommandError(
      `${server} does not allow ${username} to create users (${statusCode ?? code}): check its password, and that ${hint}.`,
    );
  };
}

/** The user to create and the administrator that creates it. Throws a `UsageError` before any change if either is missing. */
function forAccount(
  prefix: string,
  account: Credentials | null,
  admin: Credentials | null,
): { account: Credentials; admin: Credentials } {
  if (!admin) {
    throw new UsageError(`--bootstrap needs ${prefix}_ADMIN_USERNAME and ${prefix}_ADMIN_PASSWORD.`);
  }
  if (!account || account.password === '' || !ACCOUNT_NAME.test(account.username)) {
    throw new UsageError(
      `--bootstrap creates the user ${prefix}_USERNAME with ${prefix}_PASSWORD: set both. The name begins with a letter and has 1 to 64 characters of A-Z a-z 0-9 _ . -.`,
    );
  }
  if (account.username === admin.username) {
    throw new UsageError(
      `${prefix}_USERNAME is the administrator: name another user, which --bootstrap then creates.`,
    );
  }
  return { account, admin };
}

function parseResources(text: string): Resource[] {
  return text.split(',').map((given) => {
    const name = REINDEXABLE.find((resource) => resource === given.trim());
    if (!name) throw new UsageError(`--rebuild takes names from ${REINDEXABLE.join(', ')}, not ${given}.`);
    return name;
  });
}
