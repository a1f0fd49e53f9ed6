/** Bundles what Node.js starts with everything it imports: loading hundreds of modules would take longer than most commands. */
const bundles = {
  command: ['services/cli/process'],
  /** Bundles each thread and process of the embedded records store into one file. */
  workers: ['writer-thread', 'search-process'].map((name) => `services/stores/sqlite/workers/${name}`),
};

/** `--mode` names one of the bundles. */
export default ({ mode }) => ({
  build: {
    ssr: true,
    target: 'es2023',
    outDir: `dist/bundled/${mode}`,
    sourcemap: true,
    rolldownOptions: {
      input: Object.fromEntries(bundles[mode].map((name) => [name, `${name}.ts`])),
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      // A package below Koa uses eval.
      checks: { eval: false },
    },
  },
  ssr: {
    noExternal: true,
    // Packages that are native or optional, or large and used only with servers.
    external: [
      '@elastic/elasticsearch',
      '@modelcontextprotocol/server',
      '@photostructure/sqlite',
      'chdb',
      'kafkajs',
    ],
  },
});
