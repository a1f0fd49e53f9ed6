/**
 * `node --import record-statements.fixture.js?file=…`: appends every text that this process gives to SQLite and to ClickHouse in process to
 * the file, as one JSON value per line. It wraps the drivers, below all code of this package.
 */
import { openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export type RecordedStatement = [store: 'sqlite' | 'clickhouse', text: string];

type Native = Record<string, (...args: unknown[]) => unknown>;

const file = new URL(import.meta.url).searchParams.get('file');

if (file !== null) {
  const target = openSync(file, 'a');
  const record = (...statement: RecordedStatement) =>
    void writeSync(target, `${JSON.stringify(statement)}\n`);

  // The SQLite driver creates databases with this function; methods in the prototype cannot be replaced.
  const { construct } = Reflect;
  Reflect.construct = (target: { name: string }, ...args: unknown[]) => {
    const made = (construct as Native[string])(target, ...args) as Native;
    if (target.name !== 'DatabaseSync') return made;
    for (const name of ['exec', 'prepare']) {
      const given = made[name] as Native[string];
      const value = (...texts: unknown[]) => {
        record('sqlite', String(texts[0]));
        return given.apply(made, texts);
      };
      Object.defineProperty(made, name, { value });
    }
    return made as never;
  };

  // Loaded together with the engine, which most processes of the gateway never load.
  const require = createRequire(import.meta.url);
  const loader = require(join(dirname(require.resolve('chdb/package.json')), 'dist/loader.js')) as {
    loadNative(): Native;
  };
  const { loadNative } = loader;
  let recorded: Native | undefined;
  loader.loadNative = () => {
    if (recorded) return recorded;
    const native = loadNative();
    recorded = { ...native };
    for (const [name, call] of Object.entries(native)) {
      // The statement is the first text argument; the data of an insert is not text, and the format comes after the statement.
      if (!/^(Query|InsertRaw|StreamQuery)/.test(name)) continue;
      recorded[name] = (...args) => {
        record('clickhouse', String(args.find((each) => typeof each === 'string')));
        return call(...args);
      };
    }
    return recorded;
  };
}
