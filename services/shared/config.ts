import { didYouMean } from './did-you-mean.js';
import { addressRange } from './ip-address.js';
import { type Environment, type Setting, settingNames, settingSchemas } from './settings.js';

export type Config = ReturnType<typeof configOf>;
/** Days after which records of a stream are deleted; 0 keeps them. */
export type RetentionConfig = Config['retention'];
export type ElasticsearchConfig = NonNullable<Config['elasticsearch']>;
export type ClickHouseConfig = NonNullable<Config['clickhouse']>;
export type KafkaConfig = NonNullable<Config['kafka']>;

export interface Credentials {
  username: string;
  password: string;
}

/** The environment is invalid; the message lists every problem, one per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Variables that Kubernetes puts into every pod next to a Service called reachline or reachline-…
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const SERVICE_LINK = /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;
/**
 * Form of the value of a `SERVICE_LINK`. The value decides if the name is also the name of a setting: a Service reachline-worker sets
 * REACHLINE_WORKER_PORT.
 */
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

const isServiceLink = (name: string, value: string | undefined) =>
  SERVICE_LINK.test(name) && (!settingNames.has(name) || SERVICE_ADDRESS.test(value ?? ''));

/** Reads the environment. Throws a `ConfigError` that lists every problem at once. */
export function loadConfig(environment: NodeJS.ProcessEnv): Config {
  const { problems, ignored } = checkNames(environment);
  const values: Record<string, unknown> = {};
  const invalid = new Set<string>();
  for (const [name, setting] of Object.entries(settingSchemas)) {
    const text = isServiceLink(name, environment[name]) ? '' : (environment[name] ?? '');
    try {
      values[name] = text === '' ? setting.default : parse(setting, text);
    } catch (error) {
      problems.push(`${name} is ${JSON.stringify(text)} but ${(error as Error).message}`);
      invalid.add(name);
      values[name] = setting.default;
    }
  }
  const env = values as Environment;
  problems.push(...brokenRules(env).filter((problem) => !invalid.has(/^\w+/.exec(problem)?.[0] ?? '')));
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return configOf(env, ignored);
}

/** Builds the configuration. A server, account or file is null if it is not used. */
const configOf = (env: Environment, ignoredVariables: string[]) => ({
  /** Names of variables that begin with REACHLINE_ but are not settings. */
  ignoredVariables,
  port: env.PORT,
  host: env.HOST,
  dataDir: env.REACHLINE_DATA_DIR,
  /** Folder of the mapping files that requests name; null for the folder `mappings` in the data folder, which may be missing. */
  mappingsDir: env.REACHLINE_MAPPINGS || null,
  /** Default of HTTP ingest for unknown fields, if the request does not say. */
  unknownFields: env.REACHLINE_INGEST_UNKNOWN_FIELDS,
  logLevel: env.REACHLINE_LOG_LEVEL,
  logFormat: env.REACHLINE_LOG_FORMAT,
  /** Requests per key in 60 seconds; 0 means no limit. */
  rateLimit: env.REACHLINE_RATE_LIMIT,
  provisionalDays: env.REACHLINE_PROVISIONAL_DAYS,
  /** Days for which marks of deleted and erased contacts are kept; 0 keeps none. */
  changesDays: env.REACHLINE_CHANGES_DAYS,
  retention: {
    visitsDays: env.REACHLINE_RETENTION_VISITS_DAYS,
    deliveriesDays: env.REACHLINE_RETENTION_DELIVERIES_DAYS,
  },
  corsOrigins: listed(env.REACHLINE_CORS_ORIGINS),
  /** Addresses and CIDR blocks of trusted proxies. */
  trustedProxies: listed(env.REACHLINE_TRUSTED_PROXIES),
  requestTimeoutMs: env.REACHLINE_REQUEST_TIMEOUT_MS,
  maxIngestBytes: env.REACHLINE_INGEST_MAX_MIB * 1024 ** 2,
  searchProcesses: env.REACHLINE_SEARCH_PROCESSES,
  searchTimeoutMs: env.REACHLINE_SEARCH_TIMEOUT_MS,
  elasticsearch:
    listed(env.ELASTICSEARCH_URL).length === 0
      ? null
      : {
          nodes: listed(env.ELASTICSEARCH_URL),
          apiKey: env.ELASTICSEARCH_API_KEY || null,
          basic: credentials(env.ELASTICSEARCH_USERNAME, env.ELASTICSEARCH_PASSWORD),
          caFile: env.ELASTICSEARCH_CA_FILE || null,
          indexPrefix: env.ELASTICSEARCH_INDEX_PREFIX,
          /** Number of shards of contacts in new indices. */
          shards: env.ELASTICSEARCH_SHARDS,
          shardsPerOrganization: env.ELASTICSEARCH_SHARDS_PER_ORGANIZATION,
          replicas: env.ELASTICSEARCH_REPLICAS,
        },
  clickhouse:
    listed(env.CLICKHOUSE_URL).length === 0
      ? null
      : {
          urls: listed(env.CLICKHOUSE_URL),
          username: env.CLICKHOUSE_USERNAME,
          password: env.CLICKHOUSE_PASSWORD,
          database: env.CLICKHOUSE_DATABASE,
          /** Name of the cluster; null for a single server. */
          cluster: env.CLICKHOUSE_CLUSTER || null,
        },
  kafka:
    listed(env.KAFKA_BROKERS).length === 0
      ? null
      : {
          /** Addresses of the brokers, each `host:port`. */
          brokers: listed(env.KAFKA_BROKERS),
          clientId: env.KAFKA_CLIENT_ID,
          /** Prefix of the names of the consumer groups. */
          group: env.KAFKA_GROUP,
          /** Milliseconds without a heartbeat after which a worker leaves its group. */
          sessionTimeoutMs: env.KAFKA_SESSION_TIMEOUT_MS,
          tls: env.KAFKA_TLS || env.KAFKA_CA_FILE ? { caFile: env.KAFKA_CA_FILE || null } : null,
          sasl: env.KAFKA_SASL_MECHANISM
            ? {
                mechanism: env.KAFKA_SASL_MECHANISM,
                username: env.KAFKA_USERNAME,
                password: env.KAFKA_PASSWORD,
              }
            : null,
          topicPrefix: env.REACHLINE_TOPIC_PREFIX,
          /** Default of the workers for unknown fields in records of the topics. */
          unknownFields: env.REACHLINE_INGEST_UNKNOWN_FIELDS,
          /** Number of partitions of new topics. */
          partitions: env.REACHLINE_TOPIC_PARTITIONS,
          /** Replicas of new topics; -1 uses the default of the broker. */
          replicas: env.REACHLINE_TOPIC_REPLICAS,
        },
  /** Administrators of the servers; used only by `migrate --bootstrap`. */
  admins: {
    elasticsearch: credentials(env.ELASTICSEARCH_ADMIN_USERNAME, env.ELASTICSEARCH_ADMIN_PASSWORD),
    clickhouse: credentials(env.CLICKHOUSE_ADMIN_USERNAME, env.CLICKHOUSE_ADMIN_PASSWORD),
  },
  /** Port on which a worker serves health and metrics. */
  workerPort: env.REACHLINE_WORKER_PORT,
  /** Port on which a gateway serves metrics; 0 serves metrics on `port`. */
  metricsPort: env.REACHLINE_METRICS_PORT,
  /** Port of SQL for analysts; 0 disables SQL. */
  sqlPort: env.REACHLINE_SQL_PORT,
});

/** The value of a setting that is not empty. Throws an error whose message completes the sentence "PORT is … but". */
function parse(setting: Setting<unknown>, text: string): unknown {
  const { type, minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = setting;
  if (type === 'integer') {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isInteger(value)) throw new Error('must be a whole number');
    if (value < minimum) throw new Error(`must be ${minimum} or more`);
    if (value > maximum) throw new Error(`must be ${maximum} or less`);
    return value;
  }
  const allowed = type === 'boolean' ? ['true', 'false'] : setting.enum;
  if (allowed && !allowed.includes(text)) throw new Error(`must be one of ${allowed.join(', ')}`);
  if (setting.pattern && !new RegExp(setting.pattern).test(text)) {
    throw new Error(`must match ${setting.pattern}`);
  }
  return type === 'boolean' ? text === 'true' : text;
}

/** Checks the names of variables. A misspelt setting is an error. Any other name that is not a setting is ignored (contract 7). */
function checkNames(environment: NodeJS.ProcessEnv): { problems: string[]; ignored: string[] } {
  const problems: string[] = [];
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || (settingNames.has(name) && !isServiceLink(name, value))) continue;
    const hint = isServiceLink(name, value) ? '' : suggestSetting(name);
    if (hint === '') ignored.push(name);
    else problems.push(`${name} is not a setting of Reachline. ${hint}`);
  }
  return { problems, ignored: ignored.sort() };
}

export const findIgnoredVariables = (environment: NodeJS.ProcessEnv): string[] =>
  checkNames(environment).ignored;

/** A sentence for a log or a user; null if no variable is ignored. */
export function ignoredVariablesWarning(names: readonly string[]): string | null {
  return names.length === 0 ? null : `Ignored, as not settings of Reachline: ${names.join(', ')}`;
}

const PREFIX = 'REACHLINE_';

/** Compares names without the prefix, which makes short names similar. */
function suggestSetting(name: string): string {
  const rest = name.slice(PREFIX.length);
  if (settingNames.has(rest)) return didYouMean(rest, [rest]);
  const prefixed = [...settingNames].filter((each) => each.startsWith(PREFIX));
  return didYouMean(
    rest,
    prefixed.map((each) => each.slice(PREFIX.length)),
    PREFIX,
  );
}

const isHttp = (address: string) => /^https?:$/.test(URL.canParse(address) ? new URL(address).protocol : '');
const isBroker = (address: string) => /^[^\s:/]+:\d{1,5}$/.test(address);

/** The origin in the form that browsers send: scheme, host and non-default port, in lower case. Other forms would never match. */
const originOf = (text: string) => (isHttp(text) ? new URL(text).origin : undefined);
const isOrigin = (text: string) =>
  (originOf(text) ?? /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.exec(text)?.[0]) === text;

/** Checks rules for single settings and for combinations. Each problem begins with the name of a setting. */
function brokenRules(env: Environment): string[] {
  const nodes = listed(env.ELASTICSEARCH_URL);
  const replicas = listed(env.CLICKHOUSE_URL);
  const hasUser = env.KAFKA_USERNAME !== '' && env.KAFKA_PASSWORD !== '';
  const rules: [holds: boolean, problem: string][] = [
    [nodes.every(isHttp), 'ELASTICSEARCH_URL is not an address such as http://127.0.0.1:9200'],
    [
      env.ELASTICSEARCH_SHARDS_PER_ORGANIZATION === 1 ||
        env.ELASTICSEARCH_SHARDS_PER_ORGANIZATION < env.ELASTICSEARCH_SHARDS,
      'ELASTICSEARCH_SHARDS_PER_ORGANIZATION is more than 1 and not below ELASTICSEARCH_SHARDS',
    ],
    [replicas.every(isHttp), 'CLICKHOUSE_URL is not an address such as http://127.0.0.1:8123'],
    [
      !/_(?:tables|copies)$/.test(env.CLICKHOUSE_DATABASE),
      'CLICKHOUSE_DATABASE ends in _tables or _copies: a deployment whose database is named without it keeps its own tables there. Choose another name',
    ],
    [
      replicas.length < 2 || env.CLICKHOUSE_CLUSTER !== '',
      'CLICKHOUSE_URL names several servers, which are replicas of one another: name their cluster with CLICKHOUSE_CLUSTER',
    ],
    [
      replicas.length < 2 || nodes.length > 0,
      'CLICKHOUSE_URL names several servers, but the records are in a data folder, which fills one server: name one, or set ELASTICSEARCH_URL too',
    ],
    [
      env.REACHLINE_SQL_PORT === 0 || replicas.length === 0,
      'REACHLINE_SQL_PORT is for the embedded engine; with CLICKHOUSE_URL, ask the server itself',
    ],
    [
      (env.KAFKA_SASL_MECHANISM !== '') === hasUser,
      'KAFKA_SASL_MECHANISM, KAFKA_USERNAME and KAFKA_PASSWORD go together: set all or none',
    ],
  ];
  const unlike = (
    name: keyof Environment,
    isRight: (entry: string) => boolean,
    what: (entry: string) => string,
  ) =>
    listed(String(env[name]))
      .filter((entry) => !isRight(entry))
      .map((entry) => `${name} holds ${JSON.stringify(entry)}, which is not ${what(entry)}`);
  return [
    ...rules.flatMap(([holds, problem]) => (holds ? [] : [problem])),
    ...unlike('KAFKA_BROKERS', isBroker, () => 'host:port, such as 127.0.0.1:9092'),
    ...unlike(
      'REACHLINE_CORS_ORIGINS',
      isOrigin,
      (entry) => `an origin such as ${originOf(entry) ?? 'https://app.example.com'}`,
    ),
    ...unlike(
      'REACHLINE_TRUSTED_PROXIES',
      (entry) => addressRange(entry) !== null,
      () => 'an address or a CIDR block such as 10.0.0.0/8',
    ),
  ];
}

const credentials = (username: string, password: string): Credentials | null =>
  username === '' ? null : { username, password };

const listed = (text: string) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
