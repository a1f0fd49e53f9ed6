/** Loaded by `NODE_OPTIONS=--import`: replaces texts in compiled files, as MUTANTS says, in every thread. */
import { register } from 'node:module';

export interface Mutation {
  /** Below `dist`. */
  file: string;
  from: string;
  to: string;
}

const hooks = `const mutations = JSON.parse(process.env.MUTANTS);
export async function load(url, context, next) {
  const compiled = url.replace(/\\/dist\\/bundled\\/\\w+\\/services\\//, '/dist/services/');
  if (compiled !== url) return { format: 'module', shortCircuit: true, source: \`import '\${compiled}'\` };
  const loaded = await next(url, context);
  let source = loaded.source;
  for (const { file, from, to } of mutations.filter(({ file }) => url.endsWith('/dist/' + file))) {
    if (!String(source).includes(from)) throw new Error(file + ' no longer has the text of its mutant: ' + from);
    source = String(source).replaceAll(from, to);
  }
  return { ...loaded, source };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
// Modules loaded by `require` are found already loaded: hooks see only imports.
for (const { file } of JSON.parse(process.env.MUTANTS as string) as Mutation[])
  await import(new URL(`../../${file}`, import.meta.url).href);
