import { availableParallelism } from 'node:os';

/** A setting as JSON Schema. No library reads it: loading one would take longer than most commands run. */
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
/** Empty unless it has a default. */
const string = (description: string, options: Partial<Options<string>> = {}): Setting<string> =>
  choice(description, { default: '', ...options });

/** Every setting with its default, bounds and description: the only place with names of environment variables. */
export const settingSchemas = {
  PORT: integer('Port the gateway listens on.', { default: 8080, minimum: 0, maximum: 65535 }),
  HOST: string('Address the gateway listens on; 0.0.0.0 for all.', { default: '127.0.0.1' }),
  REACHLINE_DATA_DIR: string('Folder of the embedded stores.', { default: './data' }),
  REACHLINE_INGEST_UNKNOWN_FIELDS: choice<UnknownFields>(
    'Whether a field that its stream does not have rejects a record or is ignored, unless an HTTP request says so in unknown_fields.',
    { default: 'reject', enum: ['reject', 'ignore'] },
  ),
  REACHLINE_MAPPINGS: string(
    'Folder of mapping files for ?map= of ingest requests; else mappings in the data folder.',
  ),
  REACHLINE_LOG_LEVEL: choice<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>(
    'Minimum level of log lines.',
    { default: 'info', enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] },
  ),
  REACHLINE_LOG_FORMAT: choice<'auto' | 'json' | 'text'>(
    'Format of log lines; auto is text on a terminal, else JSON.',
    { default: 'auto', enum: ['auto', 'json', 'text'] },
  ),
  REACHLINE_RATE_LIMIT: integer(
    'Requests per key in 60 seconds in each gateway, twice as many per organization; 0 for no limit.',
    { default: 6000, minimum: 0 },
  ),
  REACHLINE_PROVISIONAL_DAYS: integer('Days before today with provisional advertising figures.', {
    default: 7,
    minimum: 0,
    maximum: 3660,
  }),
  REACHLINE_RETENTION_VISITS_DAYS: integer('Days after which website visits are deleted; 0 keeps them.', {
    default: 0,
    minimum: 0,
    maximum: 36_600,
  }),
  REACHLINE_RETENTION_DELIVERIES_DAYS: integer(
    'Days after which deliveries are deleted, by whole months; 0 keeps them.',
    { default: 0, minimum: 0, maximum: 36_600 },
  ),
  REACHLINE_CORS_ORIGINS: string('Origins that may call from a browser.'),
  REACHLINE_TRUSTED_PROXIES: string('Addresses or CIDR blocks whose X-Forwarded-For is trusted.'),
  REACHLINE_REQUEST_TIMEOUT_MS: integer('Deadline of a request in milliseconds.', {
    default: 30_000,
    minimum: 100,
    maximum: 600_000,
  }),
  REACHLINE_INGEST_MAX_MIB: integer('Maximum of records in one ingest request, in MiB.', {
    default: 1024,
    minimum: 16,
    maximum: 16_384,
  }),
  REACHLINE_SEARCH_THREADS: integer('Concurrent searches per organization in the embedded store.', {
    default: Math.max(1, Math.min(4, availableParallelism() - 1)),
    minimum: 1,
    maximum: 64,
  }),
  REACHLINE_SEARCH_TIMEOUT_MS: integer('Milliseconds after which a search ends with 504.', {
    default: 5000,
    minimum: 100,
    maximum: 600_000,
  }),
  ELASTICSEARCH_URL: string('Addresses of Elasticsearch nodes; empty for the data folder.'),
  ELASTICSEARCH_API_KEY: string('API key for Elasticsearch, encoded.'),
  ELASTICSEARCH_USERNAME: string('User name for Elasticsearch.'),
  ELASTICSEARCH_PASSWORD: string('Password for Elasticsearch.'),
  ELASTICSEARCH_ADMIN_USERNAME: string('Administrator for migrate --bootstrap.'),
  ELASTICSEARCH_ADMIN_PASSWORD: string('Password of that user.'),
  ELASTICSEARCH_CA_FILE: string('PEM file of its certificate authority.'),
  ELASTICSEARCH_INDEX_PREFIX: string('Prefix of the names of all indices.', {
    default: 'reachline',
    pattern: '^[a-z][a-z0-9_]{0,31}$',
  }),
  ELASTICSEARCH_SHARDS: integer(
    'Primary shards of the contacts; an existing index needs migrate --rebuild contacts.',
    { default: 3, minimum: 1, maximum: 1024 },
  ),
  ELASTICSEARCH_SHARDS_PER_ORGANIZATION: integer(
    'Of them, those over which an organization spreads; changed like ELASTICSEARCH_SHARDS.',
    { default: 1, minimum: 1, maximum: 1023 },
  ),
  ELASTICSEARCH_REPLICAS: integer('Replicas of each shard, as far as there are nodes; migrate sets them.', {
    default: 1,
    minimum: 0,
    maximum: 8,
  }),
  CLICKHOUSE_URL: string('HTTP addresses of ClickHouse or its replicas; empty for the embedded engine.'),
  CLICKHOUSE_USERNAME: string('User name for ClickHouse.', { default: 'default' }),
  CLICKHOUSE_PASSWORD: string('Password for ClickHouse.'),
  CLICKHOUSE_ADMIN_USERNAME: string('Administrator for migrate --bootstrap.'),
  CLICKHOUSE_ADMIN_PASSWORD: string('Password of that user.'),
  CLICKHOUSE_DATABASE: string('Database of the tables on a ClickHouse server.', {
    default: 'reachline',
    pattern: '^[a-z][a-z0-9_]{0,63}$',
  }),
  REACHLINE_SQL_COPY_MINUTES: integer('Minutes between copies of contacts and audiences into ClickHouse.', {
    default: 60,
    minimum: 1,
    maximum: 10_080,
  }),
  CLICKHOUSE_CLUSTER: string('Name of the cluster of the replicas; empty for a single server.', {
    pattern: '^[A-Za-z0-9_-]{0,64}$',
  }),
  KAFKA_BROKERS: string('Kafka brokers, host:port; empty for none.'),
  KAFKA_CLIENT_ID: string('Client id sent to the brokers.', { default: 'reachline' }),
  KAFKA_GROUP: string('Prefix of the names of the consumer groups.', { default: 'reachline' }),
  KAFKA_SESSION_TIMEOUT_MS: integer(
    'Milliseconds without heartbeats after which the partitions of a worker are reassigned.',
    { default: 30_000, minimum: 6000, maximum: 300_000 },
  ),
  KAFKA_TLS: boolean('Use TLS for the brokers.', { default: false }),
  KAFKA_CA_FILE: string('PEM file of their certificate authority.'),
  KAFKA_SASL_MECHANISM: choice<'' | SaslMechanism>('SASL mechanism.', {
    default: '',
    enum: ['', 'plain', 'scram-sha-256', 'scram-sha-512'],
  }),
  KAFKA_USERNAME: string('User name for Kafka.'),
  KAFKA_PASSWORD: string('Password for Kafka.'),
  REACHLINE_TOPIC_PREFIX: string('Prefix of the topic names, before that of the stream.', {
    pattern: '^[A-Za-z0-9._-]{0,100}$',
  }),
  REACHLINE_TOPIC_PARTITIONS: integer('Partitions of the topics that migrate creates.', {
    default: 6,
    minimum: 1,
    maximum: 1000,
  }),
  REACHLINE_TOPIC_REPLICAS: integer('Their replication factor; -1 for the default of the brokers.', {
    default: -1,
    minimum: -1,
    maximum: 100,
  }),
  REACHLINE_WORKER_PORT: integer('Port of health and metrics of a worker.', {
    default: 8081,
    minimum: 0,
    maximum: 65535,
  }),
  REACHLINE_METRICS_PORT: integer('Port of /metrics of a gateway; 0 for PORT.', {
    default: 0,
    minimum: 0,
    maximum: 65535,
  }),
  REACHLINE_SQL_PORT: integer('Port of SQL over the ClickHouse HTTP protocol, on 127.0.0.1; 0 for none.', {
    default: 0,
    minimum: 0,
    maximum: 65535,
  }),
  REACHLINE_URL: string('Base URL of the gateway, as --url.'),
  REACHLINE_API_KEY: string('API key for it, as --api-key, which others can see in ps.'),
};
export type Environment = { [Name in keyof typeof settingSchemas]: (typeof settingSchemas)[Name]['default'] };
/** What ingest does with fields that a stream does not have. */
export type UnknownFields = 'reject' | 'ignore';
export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';

/** Names of all settings. */
export const settingNames: ReadonlySet<string> = new Set(Object.keys(settingSchemas));
