import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const GUIDES = join(import.meta.dirname, '../../docs/reference');
const GUIDES_OUT = 'guides/';

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
        if (fileName.startsWith(GUIDES_OUT)) continue;
        const file = join(dir, fileName);
        const source = readFileSync(file);
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(`${file}.br`, brotliCompressSync(source, { params }));
        writeFileSync(`${file}.gz`, gzipSync(source, { level: 9 }));
      }
    },
  };
}

/** The guides as they are, from which the gateway renders pages. */
function copyGuides(): Plugin {
  return {
    name: 'copy-guides',
    apply: 'build',
    generateBundle() {
      for (const name of readdirSync(GUIDES)) {
        this.emitFile({
          type: 'asset',
          fileName: `${GUIDES_OUT}${name}`,
          source: readFileSync(join(GUIDES, name)),
        });
      }
    },
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
  plugins: [copyGuides(), precompress()],
});
