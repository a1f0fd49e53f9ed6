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

/** The sections of the page, each with its settings; a setting belongs to the last section that matches. */
const SECTIONS: readonly (readonly [title: string, settings: RegExp])[] = [
  ['Gateway', /^/],
  ['Embedded stores', /^REACHLINE_(?:DATA_DIR|SEARCH_PROCESSES|SQL_PORT)$/],
  ['Elasticsearch', /^ELASTICSEARCH_/],
  ['ClickHouse', /^CLICKHOUSE_/],
  ['Kafka and the worker', /^(?:KAFKA_|REACHLINE_TOPIC_|REACHLINE_WORKER_)/],
  ['Sending records through a gateway', /^REACHLINE_(?:URL|API_KEY)$/],
];
const sectionOf = (name: Setting) => SECTIONS.findLast(([, settings]) => settings.test(name))?.[0];

/** Defaults that depend on the machine. */
const COMPUTED_DEFAULTS: Partial<Record<Setting, string>> = {
  REACHLINE_SEARCH_PROCESSES: 'cores − 1, 1–4',
};

const INTRODUCTION = `# Configuration

<!-- Generated from services/shared/settings.ts by \`npm run docs\`; a test compares. -->

Settings are environment variables. An empty variable counts as absent, and commas separate the entries of a list. \`reachline doctor\` checks them. An unknown name close to a \`REACHLINE_\`
setting is an error; other unknown names are ignored with a warning. Give each command the settings of the stores that it uses.
`;

/** The text of `docs/operating/configuration.md`. */
export function configurationPage(): string {
  const sections = SECTIONS.map(([title]) => {
    const names = (Object.keys(settingSchemas) as Setting[]).filter((name) => sectionOf(name) === title);
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

/** Allowed values besides the default; empty for a setting that takes any text. */
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
