/** Loaded by `NODE_OPTIONS=--import`: replaces a text in one compiled file, as MUTANT says, in every thread. */
import { register } from 'node:module';

export interface Mutation {
  /** Below `dist`. */
  file: string;
  from: string;
  to: string;
}

const hooks = `const { file, from, to } = JSON.parse(process.env.MUTANT);
export async function load(url, context, next) {
  const compiled = url.replace(/\\/dist\\/bundled\\/\\w+\\/services\\//, '/dist/services/');
  if (compiled !== url) return { format: 'module', shortCircuit: true, source: \`import '\${compiled}'\` };
  const loaded = await next(url, context);
  if (!url.endsWith('/dist/' + file)) return loaded;
  const source = String(loaded.source);
  if (!source.includes(from)) throw new Error(file + ' no longer has the text of its mutant: ' + from);
  return { ...loaded, source: source.replaceAll(from, to) };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
const { file } = JSON.parse(process.env.MUTANT as string) as Mutation;
// What is required finds it loaded: hooks see imports alone.
await import(new URL(`../../${file}`, import.meta.url).href);
