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
type SettingOptions<Value> = Omit<Setting<Value>, 'type'>;

const integer = (options: SettingOptions<number>): Setting<number> => ({ type: 'integer', ...options });
const boolean = (options: SettingOptions<boolean>): Setting<boolean> => ({ type: 'boolean', ...options });
const string = (options: SettingOptions<string>): Setting<string> => ({ type: 'string', ...options });
const choice = <Value extends string>(options: SettingOptions<Value>): Setting<Value> => ({
  type: 'string',
  ...options,
});

/** Every setting with its default, bounds and description: the only place with names of environment variables. */
export const settingSchemas = {
  PORT: integer({
    default: 8080,
    minimum: 0,
    maximum: 65535,
    description: 'Port the gateway listens on.',
  }),
  HOST: string({
    default: '127.0.0.1',
    description: 'Address the gateway listens on; 0.0.0.0 for all.',
  }),
  REACHLINE_DATA_DIR: string({
    default: './data',
    description: 'Folder of the embedded stores.',
  }),
  REACHLINE_INGEST_UNKNOWN_FIELDS: choice<UnknownFields>({
    enum: ['reject', 'ignore'],
    default: 'reject',
    description:
      'What becomes of fields that a stream does not have, in records from Kafka, from files loaded into the data folder and, without unknown_fields in the request, over HTTP: reject rejects the record, ignore leaves them out.',
  }),
  REACHLINE_MAPPINGS: string({
    default: '',
    description:
      'Folder of mapping files that ingest requests may name with ?map=; mappings in the data folder when empty.',
  }),
  REACHLINE_LOG_LEVEL: choice<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>({
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    description: 'Minimum level of log lines.',
  }),
  REACHLINE_LOG_FORMAT: choice<'auto' | 'json' | 'text'>({
    enum: ['auto', 'json', 'text'],
    default: 'auto',
    description: 'Format of log lines; auto is text on a terminal and JSON elsewhere.',
  }),
  REACHLINE_RATE_LIMIT: integer({
    default: 6000,
    minimum: 0,
    description: 'Requests per key in 60 seconds, twice as many per organization; 0 for no limit.',
  }),
  REACHLINE_PROVISIONAL_DAYS: integer({
    default: 7,
    minimum: 0,
    maximum: 3660,
    description: 'Days before today whose advertising figures count as provisional.',
  }),
  REACHLINE_RETENTION_VISITS_DAYS: integer({
    default: 0,
    minimum: 0,
    maximum: 36_600,
    description: 'Days after which website visits are deleted; 0 keeps them.',
  }),
  REACHLINE_RETENTION_DELIVERIES_DAYS: integer({
    default: 0,
    minimum: 0,
    maximum: 36_600,
    description:
      'Days after which advertising deliveries are deleted, by whole months once their last day is older; 0 keeps them.',
  }),
  REACHLINE_CORS_ORIGINS: string({
    default: '',
    description: 'Origins that may call from a browser, separated by commas.',
  }),
  REACHLINE_TRUSTED_PROXIES: string({
    default: '',
    description: 'Addresses or CIDR blocks of proxies whose X-Forwarded-For is trusted, separated by commas.',
  }),
  REACHLINE_REQUEST_TIMEOUT_MS: integer({
    default: 30_000,
    minimum: 100,
    maximum: 600_000,
    description: 'Deadline of a request in milliseconds.',
  }),
  REACHLINE_SEARCH_THREADS: integer({
    default: Math.max(1, Math.min(4, availableParallelism() - 1)),
    minimum: 1,
    maximum: 64,
    description: 'Concurrent searches per organization in the embedded store.',
  }),
  REACHLINE_SEARCH_TIMEOUT_MS: integer({
    default: 5000,
    minimum: 100,
    maximum: 600_000,
    description: 'Milliseconds after which a search is ended and answered 504.',
  }),
  REACHLINE_PROCESSES: integer({
    default: 1,
    minimum: 1,
    maximum: 256,
    description:
      'Gateway processes that share the port; more than 1 needs ELASTICSEARCH_URL and CLICKHOUSE_URL.',
  }),
  ELASTICSEARCH_URL: string({
    default: '',
    description:
      'Addresses of Elasticsearch nodes, separated by commas; without one, contacts are kept in the data folder.',
  }),
  ELASTICSEARCH_API_KEY: string({ default: '', description: 'API key for Elasticsearch, encoded.' }),
  ELASTICSEARCH_USERNAME: string({ default: '', description: 'User name for Elasticsearch.' }),
  ELASTICSEARCH_PASSWORD: string({ default: '', description: 'Password for Elasticsearch.' }),
  ELASTICSEARCH_ADMIN_USERNAME: string({
    default: '',
    description: 'User name with which migrate --bootstrap creates the account of ELASTICSEARCH_USERNAME.',
  }),
  ELASTICSEARCH_ADMIN_PASSWORD: string({ default: '', description: 'Password of that user.' }),
  ELASTICSEARCH_CA_FILE: string({
    default: '',
    description: 'PEM file of the certificate authority of Elasticsearch.',
  }),
  ELASTICSEARCH_INDEX_PREFIX: string({
    default: 'reachline',
    pattern: '^[a-z][a-z0-9_]{0,31}$',
    description: 'Prefix of the names of all indices.',
  }),
  ELASTICSEARCH_SHARDS: integer({
    default: 3,
    minimum: 1,
    maximum: 1024,
    description: 'Primary shards of the contacts; of an index that exists after migrate --rebuild contacts.',
  }),
  ELASTICSEARCH_REPLICAS: integer({
    default: 1,
    minimum: 0,
    maximum: 8,
    description: 'Replicas of each shard, as far as there are nodes; migrate sets them.',
  }),
  CLICKHOUSE_URL: string({
    default: '',
    description: 'URL of the HTTP interface of ClickHouse; empty to run the engine in this process.',
  }),
  CLICKHOUSE_USERNAME: string({ default: 'default', description: 'User name for ClickHouse.' }),
  CLICKHOUSE_PASSWORD: string({ default: '', description: 'Password for ClickHouse.' }),
  CLICKHOUSE_ADMIN_USERNAME: string({
    default: '',
    description: 'User name with which migrate --bootstrap creates the account of CLICKHOUSE_USERNAME.',
  }),
  CLICKHOUSE_ADMIN_PASSWORD: string({ default: '', description: 'Password of that user.' }),
  CLICKHOUSE_DATABASE: string({
    default: 'reachline',
    pattern: '^[a-z][a-z0-9_]{0,63}$',
    description: 'Database of the tables on a ClickHouse server.',
  }),
  REACHLINE_SQL_COPY_MINUTES: integer({
    default: 60,
    minimum: 1,
    maximum: 10_080,
    description: 'Time between two copies of contacts and audiences into ClickHouse, for SQL.',
  }),
  CLICKHOUSE_CLUSTER: string({
    default: '',
    pattern: '^[A-Za-z0-9_-]{0,64}$',
    description: 'Cluster of replicas, each of which holds every table whole.',
  }),
  KAFKA_BROKERS: string({
    default: '',
    description: 'Addresses of Kafka brokers, host:port, separated by commas; empty to run without Kafka.',
  }),
  KAFKA_CLIENT_ID: string({
    default: 'reachline',
    description: 'Client id sent to the brokers.',
  }),
  KAFKA_GROUP: string({
    default: 'reachline',
    description: 'Prefix of the names of the consumer groups.',
  }),
  KAFKA_SESSION_TIMEOUT_MS: integer({
    default: 30_000,
    minimum: 6000,
    maximum: 300_000,
    description:
      'Session timeout in milliseconds: the partitions of a worker without heartbeats are then reassigned.',
  }),
  KAFKA_TLS: boolean({ default: false, description: 'Use TLS for the brokers.' }),
  KAFKA_CA_FILE: string({
    default: '',
    description: 'PEM file of the certificate authority of the brokers.',
  }),
  KAFKA_SASL_MECHANISM: choice<'' | SaslMechanism>({
    enum: ['', 'plain', 'scram-sha-256', 'scram-sha-512'],
    default: '',
    description: 'SASL mechanism.',
  }),
  KAFKA_USERNAME: string({ default: '', description: 'User name for Kafka.' }),
  KAFKA_PASSWORD: string({ default: '', description: 'Password for Kafka.' }),
  REACHLINE_TOPIC_PREFIX: string({
    default: '',
    pattern: '^[A-Za-z0-9._-]{0,100}$',
    description: 'Prefix of the topic names; the rest is the name of the stream.',
  }),
  REACHLINE_TOPIC_PARTITIONS: integer({
    default: 6,
    minimum: 1,
    maximum: 1000,
    description: 'Partitions of the topics that migrate creates.',
  }),
  REACHLINE_TOPIC_REPLICAS: integer({
    default: -1,
    minimum: -1,
    maximum: 100,
    description: 'Replication factor of the topics that migrate creates; -1 uses the broker default.',
  }),
  REACHLINE_WORKER_PORT: integer({
    default: 8081,
    minimum: 0,
    maximum: 65535,
    description: 'Port on which a worker serves health and metrics.',
  }),
  REACHLINE_METRICS_PORT: integer({
    default: 0,
    minimum: 0,
    maximum: 65535,
    description: 'Port on which a gateway serves /metrics instead of PORT; 0 for PORT itself.',
  }),
  REACHLINE_SQL_PORT: integer({
    default: 0,
    minimum: 0,
    maximum: 65535,
    description:
      'Port on 127.0.0.1 that answers read-only SQL over the ClickHouse HTTP protocol; 0 for none.',
  }),
  REACHLINE_SQL_PASSWORD: string({
    default: '',
    description: 'Password of that port for the advertising of every organization; an API key opens its own.',
  }),
  REACHLINE_URL: string({
    default: '',
    description: 'Base URL of the gateway that commands go through; same as --url.',
  }),
  REACHLINE_API_KEY: string({
    default: '',
    description:
      'API key for that gateway; same as --api-key, which every user of the machine can see in ps.',
  }),
};
export type Environment = { [Name in keyof typeof settingSchemas]: (typeof settingSchemas)[Name]['default'] };
/** What becomes of fields that a stream does not have. */
export type UnknownFields = 'reject' | 'ignore';
export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';

/** Names of all settings. */
export const settingNames: ReadonlySet<string> = new Set(Object.keys(settingSchemas));
