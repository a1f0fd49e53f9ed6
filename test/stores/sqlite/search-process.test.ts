import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ENTRY = new URL('../../../services/stores/sqlite/workers/search-process.js', import.meta.url);

/** Prints the address of every module that is loaded. */
const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { register } from 'node:module';
  const load = 'export async function load(url, context, next) { process._rawDebug(url); return next(url, context); }';
  register('data:text/javascript,' + encodeURIComponent(load));
`)}`;

describe('A search process', () => {
  it('starts without the schemas of requests and records, and without what validates by them', async () => {
    const arguments_ = ['--import', HOOK, fileURLToPath(ENTRY), JSON.stringify({ path: '', cacheMb: 1 })];
    const { stderr } = await promisify(execFile)(process.execPath, arguments_);
    const loaded = stderr.split('\n').filter((line) => line.startsWith('file:'));
    expect(loaded.filter((url) => url.endsWith('/stores/sqlite/connection.js'))).to.have.length(1);
    expect(loaded.filter((url) => /\/schema\.js$|\/node_modules\/ajv\//.test(url))).to.deep.equal([]);
  });
});
