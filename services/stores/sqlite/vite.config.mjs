/** The thread that writes and the process that searches, with all that they import but the package of SQLite. */
const workers = ['writer-thread', 'search-process'];

export default {
  build: {
    ssr: true,
    outDir: 'bundled',
    rolldownOptions: { input: workers.map((name) => `workers/${name}.js`) },
  },
  ssr: { noExternal: true, external: ['@photostructure/sqlite'] },
};
