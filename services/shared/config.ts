import { didYouMean } from './did-you-mean.js';
import { addressRange } from './ip-address.js';
import {
  type Environment,
  type SaslMechanism,
  type Setting,
  settingNames,
  settingSchemas,
  type UnknownFields,
} from './settings.js';

export interface Config {
  /** Names of variables that begin with REACHLINE_ and are not settings. */
  ignoredVariables: string[];
  port: number;
  host: string;
  dataDir: string;
  /** Folder of the mapping files that requests name; null for `mappings` in the data folder, which need not exist. */
  mappingsDir: string | null;
  /** Of HTTP ingest, where the request does not say. */
  unknownFields: UnknownFields;
  logLevel: Environment['REACHLINE_LOG_LEVEL'];
  logFormat: Environment['REACHLINE_LOG_FORMAT'];
  /** Requests per key in 60 seconds; 0 for no limit. */
  rateLimit: number;
  provisionalDays: number;
  retention: RetentionConfig;
  corsOrigins: string[];
  /** Addresses and CIDR blocks. */
  trustedProxies: string[];
  requestTimeoutMs: number;
  searchThreads: number;
  searchTimeoutMs: number;
  /** Between two copies for SQL. */
  sqlCopyMs: number;
  /** Gateway processes that share the port. */
  processes: number;
  /** Null for the embedded search store. */
  elasticsearch: ElasticsearchConfig | null;
  /** Null for the embedded engine. */
  clickhouse: ClickHouseConfig | null;
  /** Null when there is no Kafka. */
  kafka: KafkaConfig | null;
  /** Administrators of the servers, only for `migrate --bootstrap`; null when not configured. */
  admins: { elasticsearch: Credentials | null; clickhouse: Credentials | null };
  /** Port of the health and metrics of a worker. */
  workerPort: number;
  /** Port of the metrics of a gateway; 0 for `port`. */
  metricsPort: number;
  /** Null when the SQL endpoint is off. */
  sqlEndpoint: { port: number; password: string } | null;
}

/** Days after which records of a stream are deleted; 0 keeps them. */
export interface RetentionConfig {
  visitsDays: number;
  deliveriesDays: number;
}

export interface Credentials {
  username: string;
  password: string;
}

export interface ElasticsearchConfig {
  nodes: string[];
  apiKey: string | null;
  basic: Credentials | null;
  /** PEM file of the certificate authority. */
  caFile: string | null;
  indexPrefix: string;
}

export interface ClickHouseConfig {
  url: string;
  username: string;
  password: string;
  database: string;
  /** Null for a single server. */
  cluster: string | null;
}

export interface KafkaConfig {
  /** `host:port` each. */
  brokers: string[];
  clientId: string;
  /** Prefix of the names of the consumer groups. */
  group: string;
  /** Milliseconds without a heartbeat after which a worker leaves its group. */
  sessionTimeoutMs: number;
  tls: { caFile: string | null } | null;
  sasl: { mechanism: SaslMechanism; username: string; password: string } | null;
  topicPrefix: string;
  /** In records of the topics. */
  unknownFields?: UnknownFields;
  /** Of new topics. */
  partitions: number;
  /** Of new topics; -1 uses the broker default. */
  replicas: number;
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
/** The value of such a variable, where its name is a setting too: a Service reachline-worker sets REACHLINE_WORKER_PORT. */
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
  const nodes = listed(env.ELASTICSEARCH_URL);
  const brokers = listed(env.KAFKA_BROKERS);
  const corsOrigins = listed(env.REACHLINE_CORS_ORIGINS);
  const trustedProxies = listed(env.REACHLINE_TRUSTED_PROXIES);
  // A rule that reads an invalid setting would judge its default.
  const rules = [
    ...crossFieldRules(env, nodes),
    ...kafkaRules(env, brokers),
    ...originRules(corsOrigins),
    ...proxyRules(trustedProxies),
  ];
  for (const { names, problem } of rules) {
    if (!names.some((name) => invalid.has(name))) problems.push(problem);
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return {
    ignoredVariables: ignored,
    port: env.PORT,
    host: env.HOST,
    dataDir: env.REACHLINE_DATA_DIR,
    mappingsDir: env.REACHLINE_MAPPINGS || null,
    unknownFields: env.REACHLINE_INGEST_UNKNOWN_FIELDS,
    logLevel: env.REACHLINE_LOG_LEVEL,
    logFormat: env.REACHLINE_LOG_FORMAT,
    rateLimit: env.REACHLINE_RATE_LIMIT,
    provisionalDays: env.REACHLINE_PROVISIONAL_DAYS,
    retention: {
      visitsDays: env.REACHLINE_RETENTION_VISITS_DAYS,
      deliveriesDays: env.REACHLINE_RETENTION_DELIVERIES_DAYS,
    },
    corsOrigins,
    trustedProxies,
    requestTimeoutMs: env.REACHLINE_REQUEST_TIMEOUT_MS,
    searchThreads: env.REACHLINE_SEARCH_THREADS,
    searchTimeoutMs: env.REACHLINE_SEARCH_TIMEOUT_MS,
    sqlCopyMs: env.REACHLINE_SQL_COPY_MINUTES * 60_000,
    processes: env.REACHLINE_PROCESSES,
    elasticsearch:
      nodes.length === 0
        ? null
        : {
            nodes,
            apiKey: env.ELASTICSEARCH_API_KEY || null,
            basic: env.ELASTICSEARCH_USERNAME
              ? { username: env.ELASTICSEARCH_USERNAME, password: env.ELASTICSEARCH_PASSWORD }
              : null,
            caFile: env.ELASTICSEARCH_CA_FILE || null,
            indexPrefix: env.ELASTICSEARCH_INDEX_PREFIX,
          },
    clickhouse:
      env.CLICKHOUSE_URL === ''
        ? null
        : {
            url: env.CLICKHOUSE_URL,
            username: env.CLICKHOUSE_USERNAME,
            password: env.CLICKHOUSE_PASSWORD,
            database: env.CLICKHOUSE_DATABASE,
            cluster: env.CLICKHOUSE_CLUSTER || null,
          },
    kafka:
      brokers.length === 0
        ? null
        : {
            brokers,
            clientId: env.KAFKA_CLIENT_ID,
            group: env.KAFKA_GROUP,
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
            unknownFields: env.REACHLINE_INGEST_UNKNOWN_FIELDS,
            partitions: env.REACHLINE_TOPIC_PARTITIONS,
            replicas: env.REACHLINE_TOPIC_REPLICAS,
          },
    admins: {
      elasticsearch: credentials(env.ELASTICSEARCH_ADMIN_USERNAME, env.ELASTICSEARCH_ADMIN_PASSWORD),
      clickhouse: credentials(env.CLICKHOUSE_ADMIN_USERNAME, env.CLICKHOUSE_ADMIN_PASSWORD),
    },
    workerPort: env.REACHLINE_WORKER_PORT,
    metricsPort: env.REACHLINE_METRICS_PORT,
    sqlEndpoint:
      env.REACHLINE_SQL_PORT > 0 && env.REACHLINE_SQL_PASSWORD !== ''
        ? { port: env.REACHLINE_SQL_PORT, password: env.REACHLINE_SQL_PASSWORD }
        : null,
  };
}

/** The value of a setting that is not empty. Throws an error that completes the sentence "PORT is … but". */
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

/** A misspelt setting is an error; any other name that is not a setting is ignored (contract 7). */
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

/** For a log or a person; null when there is nothing to say. */
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

/** A broken rule, with the settings it reads. */
interface BrokenRule {
  names: (keyof Environment)[];
  problem: string;
}

function crossFieldRules(env: Environment, nodes: readonly string[]): BrokenRule[] {
  const broken: BrokenRule[] = [];
  for (const [name, addresses, example] of [
    ['ELASTICSEARCH_URL', nodes, 'http://127.0.0.1:9200'],
    ['CLICKHOUSE_URL', env.CLICKHOUSE_URL === '' ? [] : [env.CLICKHOUSE_URL], 'http://127.0.0.1:8123'],
  ] as const) {
    for (const address of addresses) {
      if (!/^https?:$/.test(URL.canParse(address) ? new URL(address).protocol : '')) {
        broken.push({ names: [name], problem: `${name} is not an address such as ${example}` });
      }
    }
  }
  if (env.REACHLINE_PROCESSES > 1 && (nodes.length === 0 || env.CLICKHOUSE_URL === '')) {
    broken.push({
      names: ['REACHLINE_PROCESSES'],
      problem:
        'REACHLINE_PROCESSES is more than 1 but the embedded stores belong to one process: set ELASTICSEARCH_URL and CLICKHOUSE_URL too',
    });
  }
  if (env.REACHLINE_SQL_PORT > 0 !== (env.REACHLINE_SQL_PASSWORD !== '')) {
    broken.push({
      names: ['REACHLINE_SQL_PORT', 'REACHLINE_SQL_PASSWORD'],
      problem: 'REACHLINE_SQL_PORT and REACHLINE_SQL_PASSWORD go together: set both or neither',
    });
  }
  if (env.REACHLINE_SQL_PORT > 0 && env.CLICKHOUSE_URL !== '') {
    broken.push({
      names: ['REACHLINE_SQL_PORT', 'CLICKHOUSE_URL'],
      problem: 'REACHLINE_SQL_PORT is for the embedded engine; with CLICKHOUSE_URL, ask the server itself',
    });
  }
  return broken;
}

function kafkaRules(env: Environment, brokers: readonly string[]): BrokenRule[] {
  const broken = brokers
    .filter((broker) => !/^[^\s:/]+:\d{1,5}$/.test(broker))
    .map(
      (broker): BrokenRule => ({
        names: ['KAFKA_BROKERS'],
        problem: `KAFKA_BROKERS holds ${JSON.stringify(broker)}, which is not host:port, such as 127.0.0.1:9092`,
      }),
    );
  const hasUser = env.KAFKA_USERNAME !== '' && env.KAFKA_PASSWORD !== '';
  if ((env.KAFKA_SASL_MECHANISM !== '') !== hasUser) {
    broken.push({
      names: ['KAFKA_SASL_MECHANISM', 'KAFKA_USERNAME', 'KAFKA_PASSWORD'],
      problem: 'KAFKA_SASL_MECHANISM, KAFKA_USERNAME and KAFKA_PASSWORD go together: set all or none',
    });
  }
  return broken;
}

/** Browsers send scheme, host and a port that is not the default, in lower case: anything else would never match. */
function originRules(origins: readonly string[]): BrokenRule[] {
  return origins.flatMap((origin): BrokenRule[] => {
    const url = URL.canParse(origin) ? new URL(origin) : undefined;
    const isWeb = url !== undefined && /^https?:$/.test(url.protocol);
    if (isWeb ? url.origin === origin : /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(origin)) return [];
    const example = isWeb ? url.origin : 'https://app.example.com';
    return [
      {
        names: ['REACHLINE_CORS_ORIGINS'],
        problem: `REACHLINE_CORS_ORIGINS holds ${JSON.stringify(origin)}, which is not an origin such as ${example}`,
      },
    ];
  });
}

const proxyRules = (proxies: readonly string[]): BrokenRule[] =>
  proxies
    .filter((proxy) => addressRange(proxy) === null)
    .map((proxy) => ({
      names: ['REACHLINE_TRUSTED_PROXIES'],
      problem: `REACHLINE_TRUSTED_PROXIES holds ${JSON.stringify(proxy)}, which is not an address or a CIDR block such as 10.0.0.0/8`,
    }));

const credentials = (username: string, password: string): Credentials | null =>
  username === '' ? null : { username, password };

const listed = (text: string) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
