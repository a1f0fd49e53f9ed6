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
    'What becomes of fields that a stream does not have, in records from Kafka, from files loaded into the data folder and, without unknown_fields in the request, over HTTP: reject rejects the record, ignore leaves them out.',
    { default: 'reject', enum: ['reject', 'ignore'] },
  ),
  REACHLINE_MAPPINGS: string(
    'Folder of mapping files that ingest requests may name with ?map=; mappings in the data folder when empty.',
  ),
  REACHLINE_LOG_LEVEL: choice<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>(
    'Minimum level of log lines.',
    { default: 'info', enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] },
  ),
  REACHLINE_LOG_FORMAT: choice<'auto' | 'json' | 'text'>(
    'Format of log lines; auto is text on a terminal and JSON elsewhere.',
    { default: 'auto', enum: ['auto', 'json', 'text'] },
  ),
  REACHLINE_RATE_LIMIT: integer(
    'Requests per key in 60 seconds, twice as many per organization; 0 for no limit.',
    { default: 6000, minimum: 0 },
  ),
  REACHLINE_PROVISIONAL_DAYS: integer('Days before today whose advertising figures count as provisional.', {
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
    'Days after which advertising deliveries are deleted, by whole months once their last day is older; 0 keeps them.',
    { default: 0, minimum: 0, maximum: 36_600 },
  ),
  REACHLINE_CORS_ORIGINS: string('Origins that may call from a browser, separated by commas.'),
  REACHLINE_TRUSTED_PROXIES: string(
    'Addresses or CIDR blocks of proxies whose X-Forwarded-For is trusted, separated by commas.',
  ),
  REACHLINE_REQUEST_TIMEOUT_MS: integer('Deadline of a request in milliseconds.', {
    default: 30_000,
    minimum: 100,
    maximum: 600_000,
  }),
  REACHLINE_SEARCH_THREADS: integer('Concurrent searches per organization in the embedded store.', {
    default: Math.max(1, Math.min(4, availableParallelism() - 1)),
    minimum: 1,
    maximum: 64,
  }),
  REACHLINE_SEARCH_TIMEOUT_MS: integer('Milliseconds after which a search is ended and answered 504.', {
    default: 5000,
    minimum: 100,
    maximum: 600_000,
  }),
  REACHLINE_PROCESSES: integer(
    'Gateway processes that share the port; more than 1 needs ELASTICSEARCH_URL and CLICKHOUSE_URL.',
    { default: 1, minimum: 1, maximum: 256 },
  ),
  ELASTICSEARCH_URL: string(
    'Addresses of Elasticsearch nodes, separated by commas; without one, contacts are kept in the data folder.',
  ),
  ELASTICSEARCH_API_KEY: string('API key for Elasticsearch, encoded.'),
  ELASTICSEARCH_USERNAME: string('User name for Elasticsearch.'),
  ELASTICSEARCH_PASSWORD: string('Password for Elasticsearch.'),
  ELASTICSEARCH_ADMIN_USERNAME: string(
    'User name with which migrate --bootstrap creates the account of ELASTICSEARCH_USERNAME.',
  ),
  ELASTICSEARCH_ADMIN_PASSWORD: string('Password of that user.'),
  ELASTICSEARCH_CA_FILE: string('PEM file of the certificate authority of Elasticsearch.'),
  ELASTICSEARCH_INDEX_PREFIX: string('Prefix of the names of all indices.', {
    default: 'reachline',
    pattern: '^[a-z][a-z0-9_]{0,31}$',
  }),
  ELASTICSEARCH_SHARDS: integer(
    'Primary shards of the contacts; of an index that exists after migrate --rebuild contacts.',
    { default: 3, minimum: 1, maximum: 1024 },
  ),
  ELASTICSEARCH_REPLICAS: integer('Replicas of each shard, as far as there are nodes; migrate sets them.', {
    default: 1,
    minimum: 0,
    maximum: 8,
  }),
  CLICKHOUSE_URL: string(
    'URL of the HTTP interface of ClickHouse, or of each replica, separated by commas; empty to run the engine in this process.',
  ),
  CLICKHOUSE_USERNAME: string('User name for ClickHouse.', { default: 'default' }),
  CLICKHOUSE_PASSWORD: string('Password for ClickHouse.'),
  CLICKHOUSE_ADMIN_USERNAME: string(
    'User name with which migrate --bootstrap creates the account of CLICKHOUSE_USERNAME.',
  ),
  CLICKHOUSE_ADMIN_PASSWORD: string('Password of that user.'),
  CLICKHOUSE_DATABASE: string('Database of the tables on a ClickHouse server.', {
    default: 'reachline',
    pattern: '^[a-z][a-z0-9_]{0,63}$',
  }),
  REACHLINE_SQL_COPY_MINUTES: integer(
    'Time between two copies of contacts and audiences into ClickHouse, for SQL.',
    { default: 60, minimum: 1, maximum: 10_080 },
  ),
  CLICKHOUSE_CLUSTER: string(
    'Name of the cluster of the replicas, each of which holds everything; empty for a single server.',
    {
      pattern: '^[A-Za-z0-9_-]{0,64}$',
    },
  ),
  KAFKA_BROKERS: string(
    'Addresses of Kafka brokers, host:port, separated by commas; empty to run without Kafka.',
  ),
  KAFKA_CLIENT_ID: string('Client id sent to the brokers.', { default: 'reachline' }),
  KAFKA_GROUP: string('Prefix of the names of the consumer groups.', { default: 'reachline' }),
  KAFKA_SESSION_TIMEOUT_MS: integer(
    'Session timeout in milliseconds: the partitions of a worker without heartbeats are then reassigned.',
    { default: 30_000, minimum: 6000, maximum: 300_000 },
  ),
  KAFKA_TLS: boolean('Use TLS for the brokers.', { default: false }),
  KAFKA_CA_FILE: string('PEM file of the certificate authority of the brokers.'),
  KAFKA_SASL_MECHANISM: choice<'' | SaslMechanism>('SASL mechanism.', {
    default: '',
    enum: ['', 'plain', 'scram-sha-256', 'scram-sha-512'],
  }),
  KAFKA_USERNAME: string('User name for Kafka.'),
  KAFKA_PASSWORD: string('Password for Kafka.'),
  REACHLINE_TOPIC_PREFIX: string('Prefix of the topic names; the rest is the name of the stream.', {
    pattern: '^[A-Za-z0-9._-]{0,100}$',
  }),
  REACHLINE_TOPIC_PARTITIONS: integer('Partitions of the topics that migrate creates.', {
    default: 6,
    minimum: 1,
    maximum: 1000,
  }),
  REACHLINE_TOPIC_REPLICAS: integer(
    'Replication factor of the topics that migrate creates; -1 uses the broker default.',
    { default: -1, minimum: -1, maximum: 100 },
  ),
  REACHLINE_WORKER_PORT: integer('Port on which a worker serves health and metrics.', {
    default: 8081,
    minimum: 0,
    maximum: 65535,
  }),
  REACHLINE_METRICS_PORT: integer(
    'Port on which a gateway serves /metrics instead of PORT; 0 for PORT itself.',
    { default: 0, minimum: 0, maximum: 65535 },
  ),
  REACHLINE_SQL_PORT: integer(
    'Port on 127.0.0.1 that answers read-only SQL over the ClickHouse HTTP protocol; 0 for none.',
    { default: 0, minimum: 0, maximum: 65535 },
  ),
  REACHLINE_SQL_PASSWORD: string(
    'Password of that port for the advertising of every organization; an API key opens its own.',
  ),
  REACHLINE_URL: string('Base URL of the gateway that commands go through; same as --url.'),
  REACHLINE_API_KEY: string(
    'API key for that gateway; same as --api-key, which every user of the machine can see in ps.',
  ),
};
export type Environment = { [Name in keyof typeof settingSchemas]: (typeof settingSchemas)[Name]['default'] };
/** What becomes of fields that a stream does not have. */
export type UnknownFields = 'reject' | 'ignore';
export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';

/** Names of all settings. */
export const settingNames: ReadonlySet<string> = new Set(Object.keys(settingSchemas));
