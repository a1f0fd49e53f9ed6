import { settingSchemas } from '../../services/shared/settings.js';

type Setting = keyof typeof settingSchemas;
interface SettingSchema {
  type: string;
  default: string | number | boolean;
  description: string;
  minimum?: number;
  maximum?: number;
  enum?: readonly string[];
}

const STORES = 'stores';
const SERVE_AND_WORKER = '`serve`, `worker`';
const BOOTSTRAP = '`migrate --bootstrap`';
const KAFKA = '`serve`, `worker`, `migrate`, `doctor`, `dead-letters`';

const TITLES = {
  gateway: 'Gateway',
  embedded: 'Embedded stores',
  elasticsearch: 'Elasticsearch',
  clickhouse: 'ClickHouse',
  kafka: 'Kafka and the worker',
  ingest: 'Sending records through a gateway',
} as const;

/** Where the page lists a setting, and which commands read it. */
const SETTINGS: Record<Setting, [section: keyof typeof TITLES, readBy: string]> = {
  PORT: ['gateway', '`serve`, `doctor`'],
  HOST: ['gateway', '`serve`, `worker`, `doctor`'],
  REACHLINE_PROCESSES: ['gateway', '`serve`'],
  REACHLINE_RATE_LIMIT: ['gateway', '`serve`'],
  REACHLINE_REQUEST_TIMEOUT_MS: ['gateway', '`serve`'],
  REACHLINE_PROVISIONAL_DAYS: ['gateway', '`serve`, `export`'],
  REACHLINE_RETENTION_VISITS_DAYS: ['gateway', '`serve`, `worker`, `doctor`'],
  REACHLINE_RETENTION_DELIVERIES_DAYS: ['gateway', '`serve`, `worker`, `doctor`'],
  REACHLINE_CORS_ORIGINS: ['gateway', '`serve`'],
  REACHLINE_TRUSTED_PROXIES: ['gateway', '`serve`'],
  REACHLINE_METRICS_PORT: ['gateway', '`serve`'],
  REACHLINE_INGEST_UNKNOWN_FIELDS: ['gateway', '`serve`, `worker`'],
  REACHLINE_MAPPINGS: ['gateway', '`serve`'],
  REACHLINE_LOG_LEVEL: ['gateway', 'all that log'],
  REACHLINE_LOG_FORMAT: ['gateway', 'all that log'],
  REACHLINE_DATA_DIR: ['embedded', STORES],
  REACHLINE_SEARCH_THREADS: ['embedded', STORES],
  REACHLINE_SEARCH_TIMEOUT_MS: ['gateway', STORES],
  REACHLINE_SQL_PORT: ['embedded', '`serve`'],
  REACHLINE_SQL_PASSWORD: ['embedded', '`serve`'],
  ELASTICSEARCH_URL: ['elasticsearch', STORES],
  ELASTICSEARCH_API_KEY: ['elasticsearch', STORES],
  ELASTICSEARCH_USERNAME: ['elasticsearch', STORES],
  ELASTICSEARCH_PASSWORD: ['elasticsearch', STORES],
  ELASTICSEARCH_CA_FILE: ['elasticsearch', STORES],
  ELASTICSEARCH_INDEX_PREFIX: ['elasticsearch', STORES],
  ELASTICSEARCH_ADMIN_USERNAME: ['elasticsearch', BOOTSTRAP],
  ELASTICSEARCH_ADMIN_PASSWORD: ['elasticsearch', BOOTSTRAP],
  CLICKHOUSE_URL: ['clickhouse', STORES],
  CLICKHOUSE_USERNAME: ['clickhouse', STORES],
  CLICKHOUSE_PASSWORD: ['clickhouse', STORES],
  CLICKHOUSE_DATABASE: ['clickhouse', STORES],
  REACHLINE_SQL_COPY_MINUTES: ['clickhouse', SERVE_AND_WORKER],
  CLICKHOUSE_CLUSTER: ['clickhouse', STORES],
  CLICKHOUSE_ADMIN_USERNAME: ['clickhouse', BOOTSTRAP],
  CLICKHOUSE_ADMIN_PASSWORD: ['clickhouse', BOOTSTRAP],
  KAFKA_BROKERS: ['kafka', KAFKA],
  KAFKA_TLS: ['kafka', KAFKA],
  KAFKA_CA_FILE: ['kafka', KAFKA],
  KAFKA_SASL_MECHANISM: ['kafka', KAFKA],
  KAFKA_USERNAME: ['kafka', KAFKA],
  KAFKA_PASSWORD: ['kafka', KAFKA],
  KAFKA_CLIENT_ID: ['kafka', KAFKA],
  KAFKA_GROUP: ['kafka', '`serve`, `worker`, `dead-letters`'],
  KAFKA_SESSION_TIMEOUT_MS: ['kafka', SERVE_AND_WORKER],
  REACHLINE_TOPIC_PREFIX: ['kafka', KAFKA],
  REACHLINE_TOPIC_PARTITIONS: ['kafka', '`serve`, `worker`, `migrate`'],
  REACHLINE_TOPIC_REPLICAS: ['kafka', '`serve`, `worker`, `migrate`'],
  REACHLINE_WORKER_PORT: ['kafka', '`worker`'],
  REACHLINE_URL: ['ingest', '`ingest`, `export`, `contacts`, `mcp`'],
  REACHLINE_API_KEY: ['ingest', '`ingest`, `export`, `contacts`, `mcp`'],
};

/** Defaults that depend on the machine. */
const COMPUTED_DEFAULTS: Partial<Record<Setting, string>> = {
  REACHLINE_SEARCH_THREADS: 'cores − 1, at least 1, at most 4',
};

const INTRODUCTION = `# Configuration

<!-- Generated from services/shared/settings.ts by \`npm run docs\`; a test compares. -->

Settings are environment variables; there is no configuration file. Empty variables count as absent. \`reachline doctor\` checks them and
says what to fix. An unknown name close to a \`REACHLINE_\` setting is an error; other unknown names are ignored with a warning.
"Stores" are all commands that open a store.
`;

/** The text of `docs/operating/configuration.md`. */
export function configurationPage(): string {
  const sections = Object.entries(TITLES).map(([section, title]) => {
    const names = (Object.keys(SETTINGS) as Setting[]).filter((name) => SETTINGS[name][0] === section);
    return [
      `## ${title}`,
      '',
      '| variable | meaning | default | read by |',
      '|---|---|---|---|',
      ...names.map(row),
    ].join('\n');
  });
  return `${[INTRODUCTION.trimEnd(), ...sections].join('\n\n')}\n`;
}

function row(name: Setting): string {
  const schema = settingSchemas[name] as unknown as SettingSchema;
  const value = COMPUTED_DEFAULTS[name] ?? (schema.default === '' ? 'none' : `\`${schema.default}\``);
  const values = valuesOf(schema);
  return `| \`${name}\` | ${schema.description} | ${value}${values && `; ${values}`} | ${SETTINGS[name][1]} |`;
}

/** What is allowed besides the default, where that is not any text. */
function valuesOf({ type, enum: values, default: fallback, minimum, maximum }: SettingSchema): string {
  if (values)
    return values
      .filter((value) => value !== '' && value !== fallback)
      .map((value) => `\`${value}\``)
      .join(', ');
  if (type === 'boolean') return `\`${!fallback}\``;
  if (type !== 'integer') return '';
  return maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`;
}
