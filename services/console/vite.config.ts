import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { precompress } from './precompress.js';

const DOCS = join(import.meta.dirname, '../../docs');

/** Reads what was written, since Vite changes the chunks until then. */
function precompressed(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      for (const fileName of Object.keys(bundle)) precompress(join(dir, fileName));
    },
  };
}

/** The numbered questions of docs/reference/sql.md, for the SQL view. */
function readQuestions(): { title: string; statement: string }[] {
  const text = readFileSync(join(DOCS, 'reference/sql.md'), 'utf8');
  return [...text.matchAll(/^### \d+\. (.+)\n\n```sql\n([\s\S]+?)\n```$/gm)].map(
    ([, title = '', statement = '']) => ({ title, statement }),
  );
}

function questions(): Plugin {
  const id = 'virtual:questions';
  return {
    name: 'questions',
    resolveId: (asked) => (asked === id ? `\0${id}` : undefined),
    load: (asked) => (asked === `\0${id}` ? `export default ${JSON.stringify(readQuestions())}` : undefined),
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // A data: address would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Two pages, of which neither loads the code of the other.
      input: ['index.html', 'reference/index.html'].map((page) => join(import.meta.dirname, page)),
      checks: { pluginTimings: false, bundlerTimings: false },
    },
  },
  plugins: [questions(), precompressed()],
});
