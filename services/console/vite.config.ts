import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { renderGuide } from './reference/render-guide.js';

const DOCS = join(import.meta.dirname, '../../docs');
const GUIDES_FILE = 'guides.json';

/**
 * The gateway serves these as they are; compressing per request would cost more than the console weighs. Reads what was written,
 * since Vite changes the chunks until then.
 */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      for (const fileName of Object.keys(bundle)) {
        if (fileName === GUIDES_FILE) continue;
        const file = join(dir, fileName);
        const source = readFileSync(file);
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(`${file}.br`, brotliCompressSync(source, { params }));
        writeFileSync(`${file}.gz`, gzipSync(source, { level: 9 }));
      }
    },
  };
}

/**
 * The pages that docs/README.md lists above "How it is built", in its order; links between them lead to where they are served. Throws
 * when one links to a file that is not served.
 */
function readGuides(): { name: string; group: string; title: string; text: string }[] {
  const [served = ''] = readFileSync(join(DOCS, 'README.md'), 'utf8').split('## How it is built');
  const groups = served.split(/^## /m).slice(1);
  const files = groups.flatMap((section) => {
    const [group = ''] = section.split('\n');
    return [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+\.md)\)$/gm)].map(([, title = '', file = '']) => ({
      group,
      title,
      file,
    }));
  });
  const names = new Set(files.map(({ file }) => file));
  return files.map(({ group, title, file }) => {
    const text = readFileSync(join(DOCS, file), 'utf8').replaceAll(
      /\]\((?!https?:|#)([^)#]+)/g,
      (_, to: string) => {
        const target = relative(DOCS, join(DOCS, dirname(file), to));
        if (!names.has(target)) throw new Error(`docs/${file} links to ${to}, which /docs does not serve`);
        return `](/docs/${basename(target)}`;
      },
    );
    return { name: basename(file, '.md'), group, title, text };
  });
}

/** One file for the gateway; for the browser a list, and the texts as a chunk of their own (guides.ts). */
function guides(): Plugin {
  const modules: Record<string, () => unknown> = {
    'virtual:guides': () => readGuides().map(({ text: _, ...guide }) => guide),
    'virtual:guide-texts': () =>
      Object.fromEntries(readGuides().map(({ name, text }) => [name, renderGuide(text)])),
  };
  return {
    name: 'guides',
    resolveId: (id) => (id in modules ? `\0${id}` : undefined),
    load: (id) => {
      const read = modules[id.slice(1)];
      return read && `export default ${JSON.stringify(read())}`;
    },
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: GUIDES_FILE, source: JSON.stringify(readGuides()) });
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
  plugins: [guides(), questions(), precompress()],
});
