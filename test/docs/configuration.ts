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

const TITLES = {
  gateway: 'Gateway',
  embedded: 'Embedded stores',
  elasticsearch: 'Elasticsearch',
  clickhouse: 'ClickHouse',
  kafka: 'Kafka and the worker',
  ingest: 'Sending records through a gateway',
} as const;

/** The section of the page that lists a setting, in its order. */
const SECTIONS: Record<Setting, keyof typeof TITLES> = {
  PORT: 'gateway',
  HOST: 'gateway',
  REACHLINE_PROCESSES: 'gateway',
  REACHLINE_RATE_LIMIT: 'gateway',
  REACHLINE_REQUEST_TIMEOUT_MS: 'gateway',
  REACHLINE_PROVISIONAL_DAYS: 'gateway',
  REACHLINE_RETENTION_VISITS_DAYS: 'gateway',
  REACHLINE_RETENTION_DELIVERIES_DAYS: 'gateway',
  REACHLINE_CORS_ORIGINS: 'gateway',
  REACHLINE_TRUSTED_PROXIES: 'gateway',
  REACHLINE_METRICS_PORT: 'gateway',
  REACHLINE_INGEST_UNKNOWN_FIELDS: 'gateway',
  REACHLINE_MAPPINGS: 'gateway',
  REACHLINE_LOG_LEVEL: 'gateway',
  REACHLINE_LOG_FORMAT: 'gateway',
  REACHLINE_DATA_DIR: 'embedded',
  REACHLINE_SEARCH_THREADS: 'embedded',
  REACHLINE_SEARCH_TIMEOUT_MS: 'gateway',
  REACHLINE_SQL_PORT: 'embedded',
  REACHLINE_SQL_PASSWORD: 'embedded',
  ELASTICSEARCH_URL: 'elasticsearch',
  ELASTICSEARCH_API_KEY: 'elasticsearch',
  ELASTICSEARCH_USERNAME: 'elasticsearch',
  ELASTICSEARCH_PASSWORD: 'elasticsearch',
  ELASTICSEARCH_CA_FILE: 'elasticsearch',
  ELASTICSEARCH_INDEX_PREFIX: 'elasticsearch',
  ELASTICSEARCH_SHARDS: 'elasticsearch',
  ELASTICSEARCH_SHARDS_PER_ORGANIZATION: 'elasticsearch',
  ELASTICSEARCH_REPLICAS: 'elasticsearch',
  ELASTICSEARCH_ADMIN_USERNAME: 'elasticsearch',
  ELASTICSEARCH_ADMIN_PASSWORD: 'elasticsearch',
  CLICKHOUSE_URL: 'clickhouse',
  CLICKHOUSE_USERNAME: 'clickhouse',
  CLICKHOUSE_PASSWORD: 'clickhouse',
  CLICKHOUSE_DATABASE: 'clickhouse',
  REACHLINE_SQL_COPY_MINUTES: 'clickhouse',
  CLICKHOUSE_CLUSTER: 'clickhouse',
  CLICKHOUSE_ADMIN_USERNAME: 'clickhouse',
  CLICKHOUSE_ADMIN_PASSWORD: 'clickhouse',
  KAFKA_BROKERS: 'kafka',
  KAFKA_TLS: 'kafka',
  KAFKA_CA_FILE: 'kafka',
  KAFKA_SASL_MECHANISM: 'kafka',
  KAFKA_USERNAME: 'kafka',
  KAFKA_PASSWORD: 'kafka',
  KAFKA_CLIENT_ID: 'kafka',
  KAFKA_GROUP: 'kafka',
  KAFKA_SESSION_TIMEOUT_MS: 'kafka',
  REACHLINE_TOPIC_PREFIX: 'kafka',
  REACHLINE_TOPIC_PARTITIONS: 'kafka',
  REACHLINE_TOPIC_REPLICAS: 'kafka',
  REACHLINE_WORKER_PORT: 'kafka',
  REACHLINE_URL: 'ingest',
  REACHLINE_API_KEY: 'ingest',
};

/** Defaults that depend on the machine. */
const COMPUTED_DEFAULTS: Partial<Record<Setting, string>> = {
  REACHLINE_SEARCH_THREADS: 'cores − 1, 1–4',
};

const INTRODUCTION = `# Configuration

<!-- Generated from services/shared/settings.ts by \`npm run docs\`; a test compares. -->

Settings are environment variables; empty ones count as absent, and commas separate the entries of a list. \`reachline doctor\` checks them. An unknown name close to a \`REACHLINE_\`
setting is an error; other unknown names are ignored with a warning. Give each command the settings of the stores that it uses.
`;

/** The text of `docs/operating/configuration.md`. */
export function configurationPage(): string {
  const sections = Object.entries(TITLES).map(([section, title]) => {
    const names = (Object.keys(SECTIONS) as Setting[]).filter((name) => SECTIONS[name] === section);
    return [`## ${title}`, '', '| variable | meaning | default |', '|---|---|---|', ...names.map(row)].join(
      '\n',
    );
  });
  return `${[INTRODUCTION.trimEnd(), ...sections].join('\n\n')}\n`;
}

function row(name: Setting): string {
  const schema = settingSchemas[name] as unknown as SettingSchema;
  const value = COMPUTED_DEFAULTS[name] ?? (schema.default === '' ? '' : `\`${schema.default}\``);
  const values = valuesOf(schema);
  const shown = [value, values].filter((text) => text !== '').join('; ');
  return `| \`${name}\` | ${schema.description} | ${shown} |`;
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
  return maximum === undefined ? `≥ ${minimum}` : `${minimum}–${maximum}`;
}
