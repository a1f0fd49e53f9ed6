/** What Node.js starts, with all that it imports: reading hundreds of modules takes longer than most commands. */
const bundles = {
  command: ['services/cli/process'],
  /** In one file each, the threads and processes of the embedded records store. */
  workers: ['writer-thread', 'search-process'].map((name) => `services/stores/sqlite/workers/${name}`),
};

/** `--mode` names one of them. */
export default ({ mode }) => ({
  build: {
    ssr: true,
    target: 'es2023',
    outDir: `dist/bundled/${mode}`,
    sourcemap: true,
    rolldownOptions: {
      input: Object.fromEntries(bundles[mode].map((name) => [name, `${name}.ts`])),
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      // A package below Koa has one.
      checks: { eval: false },
    },
  },
  ssr: {
    noExternal: true,
    // What is native or optional, or large and used with servers alone.
    external: [
      '@elastic/elasticsearch',
      '@modelcontextprotocol/server',
      '@photostructure/sqlite',
      'chdb',
      'kafkajs',
    ],
  },
});
