import { availableParallelism } from 'node:os';

/** A setting as JSON Schema. No library validates settings: loading a library would take longer than most commands run. */
export interface Setting<Value> {
  type: 'integer' | 'string' | 'boolean';
  default: Value;
  description: string;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  enum?: readonly Value[];
}
type Options<Value> = Omit<Setting<Value>, 'type' | 'description'>;

const settingOf =
  <Value>(type: Setting<Value>['type']) =>
  (description: string, options: Options<Value>): Setting<Value> => ({ type, description, ...options });
const integer = settingOf<number>('integer');
const boolean = settingOf<boolean>('boolean');
const choice = <Value extends string>(description: string, options: Options<Value>) =>
  settingOf<Value>('string')(description, options);
/** A text setting. The value is empty unless the setting has a default. */
const string = (description: string, options: Partial<Options<string>> = {}): Setting<string> =>
  choice(description, { default: '', ...options });

/** Every setting with its default, bounds and description. Only this file names environment variables. */
export const settingSchemas = {
  PORT: integer('Port on which the gateway listens.', { default: 8080, minimum: 0, maximum: 65535 }),
  HOST: string('Address on which the gateway listens; 0.0.0.0 for every address.', { default: '127.0.0.1' }),
  REACHLINE_DATA_DIR: string('Folder of the embedded stores.', { default: './data' }),
  REACHLINE_INGEST_UNKNOWN_FIELDS: choice<UnknownFields>(
    'What ingest does with a field that the stream does not have: reject the record, or ignore the field. An HTTP request may override it with unknown_fields.',
    { default: 'reject', enum: ['reject', 'ignore'] },
  ),
  REACHLINE_MAPPINGS: string(
    'Folder of the mapping files that ingest requests name in ?map=. Empty means the folder mappings in the data folder.',
  ),
  REACHLINE_LOG_LEVEL: choice<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>(
    'Minimum level of log lines.',
    { default: 'info', enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] },
  ),
  REACHLINE_LOG_FORMAT: choice<'auto' | 'json' | 'text'>(
    'Format of log lines; auto means text on a terminal, otherwise JSON.',
    { default: 'auto', enum: ['auto', 'json', 'text'] },
  ),
  REACHLINE_RATE_LIMIT: integer(
    'Requests per key in 60 seconds, counted by each gateway; an organization may send twice as many. 0 means no limit.',
    { default: 6000, minimum: 0 },
  ),
  REACHLINE_PROVISIONAL_DAYS: integer(
    'Number of days before today whose advertising metrics are provisional.',
    {
      default: 7,
      minimum: 0,
      maximum: 3660,
    },
  ),
  REACHLINE_RETENTION_VISITS_DAYS: integer('Days after which website visits are deleted; 0 keeps them.', {
    default: 0,
    minimum: 0,
    maximum: 36_600,
  }),
  REACHLINE_CHANGES_DAYS: integer(
    'Days for which the ids of deleted and erased contacts are kept for contacts/changes; 0 turns contacts/changes off.',
    { default: 7, minimum: 0, maximum: 366 },
  ),
  REACHLINE_RETENTION_DELIVERIES_DAYS: integer(
    'Days after which deliveries are deleted, in whole months; 0 keeps them.',
    { default: 0, minimum: 0, maximum: 36_600 },
  ),
  REACHLINE_CORS_ORIGINS: string('Origins whose pages may send requests from a browser (CORS).'),
  REACHLINE_TRUSTED_PROXIES: string('Addresses or CIDR blocks of proxies whose X-Forwarded-For is trusted.'),
  REACHLINE_REQUEST_TIMEOUT_MS: integer('Timeout of one request in milliseconds.', {
    default: 30_000,
    minimum: 100,
    maximum: 600_000,
  }),
  REACHLINE_INGEST_MAX_MIB: integer('Maximum size of the records in one ingest request, in MiB.', {
    default: 1024,
    minimum: 16,
    maximum: 16_384,
  }),
  REACHLINE_SEARCH_PROCESSES: integer(
    'Processes that one organization may search with at once in the embedded store; one more serves others.',
    {
      default: Math.max(1, Math.min(4, availableParallelism() - 1)),
      minimum: 1,
      maximum: 64,
    },
  ),
  REACHLINE_SEARCH_TIMEOUT_MS: integer('Milliseconds after which a search ends with 504.', {
    default: 5000,
    minimum: 100,
    maximum: 600_000,
  }),
  ELASTICSEARCH_URL: string(
    'Addresses of the Elasticsearch nodes. Empty means that SQLite in the data folder is used.',
  ),
  ELASTICSEARCH_API_KEY: string('API key for Elasticsearch, encoded.'),
  ELASTICSEARCH_USERNAME: string('User name for Elasticsearch.'),
  ELASTICSEARCH_PASSWORD: string('Password for Elasticsearch.'),
  ELASTICSEARCH_ADMIN_USERNAME: string('Administrator for migrate --bootstrap.'),
  ELASTICSEARCH_ADMIN_PASSWORD: string('Password of that administrator.'),
  ELASTICSEARCH_CA_FILE: string('PEM file of the certificate authority of Elasticsearch.'),
  ELASTICSEARCH_INDEX_PREFIX: string('Prefix of the names of all Elasticsearch indices.', {
    default: 'reachline',
    pattern: '^[a-z][a-z0-9_]{0,31}$',
  }),
  ELASTICSEARCH_SHARDS: integer(
    'Primary shards of the index of contacts. To change an existing index, run migrate --rebuild contacts.',
    { default: 3, minimum: 1, maximum: 1024 },
  ),
  ELASTICSEARCH_SHARDS_PER_ORGANIZATION: integer(
    'Number of these shards over which one organization is spread; changed in the same way.',
    { default: 1, minimum: 1, maximum: 1023 },
  ),
  ELASTICSEARCH_REPLICAS: integer(
    'Replicas of each shard, limited by the number of nodes; migrate sets them.',
    {
      default: 1,
      minimum: 0,
      maximum: 8,
    },
  ),
  CLICKHOUSE_URL: string('HTTP addresses of ClickHouse or its replicas. Empty means the embedded engine.'),
  CLICKHOUSE_USERNAME: string('User name for ClickHouse.', { default: 'default' }),
  CLICKHOUSE_PASSWORD: string('Password for ClickHouse.'),
  CLICKHOUSE_ADMIN_USERNAME: string('Administrator for migrate --bootstrap.'),
  CLICKHOUSE_ADMIN_PASSWORD: string('Password of that administrator.'),
  CLICKHOUSE_DATABASE: string('Database of the tables on a ClickHouse server.', {
    default: 'reachline',
    pattern: '^[a-z][a-z0-9_]{0,63}$',
  }),
  CLICKHOUSE_CLUSTER: string(
    'Name of the ClickHouse cluster that the replicas form; empty for a single server.',
    {
      pattern: '^[A-Za-z0-9_-]{0,64}$',
    },
  ),
  KAFKA_BROKERS: string('Kafka brokers as host:port. Empty means that Kafka is not used.'),
  KAFKA_CLIENT_ID: string('Client id that is sent to the brokers.', { default: 'reachline' }),
  KAFKA_GROUP: string('Prefix of the names of the consumer groups.', { default: 'reachline' }),
  KAFKA_SESSION_TIMEOUT_MS: integer(
    'Milliseconds without heartbeats after which the partitions of a worker are reassigned.',
    { default: 30_000, minimum: 6000, maximum: 300_000 },
  ),
  KAFKA_TLS: boolean('Whether connections to the brokers use TLS.', { default: false }),
  KAFKA_CA_FILE: string('PEM file of the certificate authority of the brokers.'),
  KAFKA_SASL_MECHANISM: choice<'' | SaslMechanism>(
    'SASL mechanism for Kafka; empty means no authentication.',
    {
      default: '',
      enum: ['', 'plain', 'scram-sha-256', 'scram-sha-512'],
    },
  ),
  KAFKA_USERNAME: string('User name for Kafka.'),
  KAFKA_PASSWORD: string('Password for Kafka.'),
  REACHLINE_TOPIC_PREFIX: string('Prefix of the topic names; the name of the stream follows it.', {
    pattern: '^[A-Za-z0-9._-]{0,100}$',
  }),
  REACHLINE_TOPIC_PARTITIONS: integer('Partitions of the topics that migrate creates.', {
    default: 6,
    minimum: 1,
    maximum: 1000,
  }),
  REACHLINE_TOPIC_REPLICAS: integer(
    'Replication factor of these topics; -1 means the default of the brokers.',
    {
      default: -1,
      minimum: -1,
      maximum: 100,
    },
  ),
  REACHLINE_WORKER_PORT: integer('Port on which a worker serves health and metrics.', {
    default: 8081,
    minimum: 0,
    maximum: 65535,
  }),
  REACHLINE_METRICS_PORT: integer('Port on which a gateway serves /metrics; 0 means PORT.', {
    default: 0,
    minimum: 0,
    maximum: 65535,
  }),
  REACHLINE_SQL_PORT: integer(
    'Port on 127.0.0.1 for SQL over the HTTP protocol of ClickHouse; 0 disables it.',
    {
      default: 0,
      minimum: 0,
      maximum: 65535,
    },
  ),
  REACHLINE_URL: string('Base URL of the gateway, the same as --url.'),
  REACHLINE_API_KEY: string('API key for that gateway, the same as --api-key, but hidden from ps.'),
};
export type Environment = { [Name in keyof typeof settingSchemas]: (typeof settingSchemas)[Name]['default'] };
/** What ingest does with fields that its stream does not have. */
export type UnknownFields = 'reject' | 'ignore';
export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';

/** Names of all settings. */
export const settingNames: ReadonlySet<string> = new Set(Object.keys(settingSchemas));
