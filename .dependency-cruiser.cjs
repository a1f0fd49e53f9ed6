/**
 * Imports point one way, from the top of this list to its end: a folder may import from those below it alone. Written once as an
 * order, so that a new folder finds its place by being named here.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
const LAYERS = [
  ['console', '^services/console/'],
  ['cli', '^services/cli/'],
  ['mcp', '^services/mcp/'],
  ['demo', '^services/demo/'],
  ['client', '^services/client/'],
  ['gateway', '^services/gateway/'],
  ['ingest worker', '^ingest/worker/'],
  ['ingest check', '^ingest/check/'],
  ['ingest pipeline', '^ingest/[^/]+\\.ts$'],
  ['ingest sources', '^ingest/sources/'],
  ['ingest presets', '^ingest/presets/'],
  ['ingest mapping', '^ingest/mapping/'],
  ['ingest streams', '^ingest/streams/'],
  ['ingest records', '^ingest/records/'],
  ['sql endpoint', '^services/sql-endpoint/'],
  ['open stores', '^services/stores/open-stores\\.ts$'],
  ['backup', '^services/stores/backup/'],
  ['copy', '^services/stores/copy/'],
  ['adapters', '^services/stores/(sqlite|elasticsearch|clickhouse)/'],
  ['adapters, common', '^services/stores/(common|data-folder)/'],
  ['rejections', '^services/rejections/'],
  ['status', '^services/status/'],
  ['influence', '^services/influence/'],
  ['companies', '^services/companies/'],
  ['saved filters', '^services/saved-filters/'],
  ['contacts', '^services/contacts/'],
  ['audiences', '^services/audiences/'],
  ['visits', '^services/visits/'],
  ['advertising', '^services/advertising/'],
  ['accounts', '^services/accounts/'],
  ['http', '^services/http/'],
  ['search', '^services/search/'],
  ['shared', '^services/shared/'],
];

const upward = LAYERS.slice(1).map(([name, path], index) => ({
  name: `${name}: no import from above`,
  comment:
    'Imports point one way; see docs/architecture.md. Move what both need into the lower folder, or let the upper one pass it in.',
  severity: 'error',
  from: { path },
  to: { path: LAYERS.slice(0, index + 1).map(([, above]) => above) },
}));

module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'the console and the client import nothing of the server but types',
      comment: 'They run in a browser.',
      severity: 'error',
      from: { path: '^services/(console|client)/', pathNot: '^services/client/declarations/' },
      to: {
        path: '^(services|ingest)/',
        pathNot: ['^services/(console|client)/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'the client has no dependency at run time',
      severity: 'error',
      from: { path: '^services/client/', pathNot: '^services/client/declarations/' },
      to: { path: 'node_modules|^node:', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'one adapter does not know another',
      severity: 'error',
      from: { path: '^services/stores/(sqlite|elasticsearch|clickhouse)/' },
      to: { path: '^services/stores/(sqlite|elasticsearch|clickhouse)/', pathNot: '^services/stores/$1/' },
    },
    {
      name: 'only ingest/sources/kafka knows kafkajs',
      severity: 'error',
      from: { path: '^(services|ingest)/', pathNot: '^ingest/sources/kafka/' },
      to: { path: 'kafkajs' },
    },
    {
      name: 'only stores/common/sqlite-file.ts knows the SQLite driver',
      comment: 'It takes typed fragments of SQL alone.',
      severity: 'error',
      from: { path: '^(services|ingest)/', pathNot: '^services/stores/common/sqlite-file\\.ts$' },
      to: { path: '@photostructure/sqlite|better-sqlite3|node:sqlite' },
    },
    {
      name: 'of TypeBox the product imports types alone',
      comment: 'A process would load 370 files of it as it starts.',
      severity: 'error',
      from: { path: '^(services|ingest)/' },
      to: { path: 'node_modules/typebox', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'every folder has its place in the order',
      severity: 'error',
      from: { path: '^(services|ingest)/', pathNot: LAYERS.map(([, path]) => path) },
      to: {},
    },
    {
      name: 'the product does not import its tests',
      severity: 'error',
      from: { path: '^(services|ingest)/' },
      to: { path: '^(test|bench)/' },
    },
    { name: 'no circles between files', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node'],
    },
  },
};
