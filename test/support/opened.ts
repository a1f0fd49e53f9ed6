import fc from 'fast-check';
import { SEED } from './random.js';
import { removeTempFolders } from './temp-folder.js';

// Enabled here, because for an option of Node.js mocha starts a second process.
process.setSourceMapsEnabled(true);

// A change is judged by the same draws each time; the nightly suites set another seed. A report says which assertion failed.
fc.configureGlobal({ seed: SEED, includeErrorInReport: true });

/**
 * Closes whatever a test file has left open, so that no file fails because of another: a process has at most one engine, and a hook that
 * timed out closes nothing.
 */
interface Closable {
  close(): Promise<void>;
}

const opened = new Set<Promise<Closable>>();

/** Opens something, and closes it when its test file ends, unless it was closed before. */
export async function closedWithFile<T extends Closable>(opening: Promise<T>): Promise<T> {
  opened.add(opening);
  const value = await opening.catch((error: unknown) => {
    opened.delete(opening);
    throw error;
  });
  const close = value.close.bind(value);
  value.close = () => {
    opened.delete(opening);
    return close();
  };
  return value;
}

/** Undoes something when the test file ends. */
export const afterFile = (close: () => Promise<unknown>): void =>
  void opened.add(Promise.resolve({ close: async () => void (await close()) }));

/** Opens something before the tests of a suite and closes it after them. It may be used only inside its tests. */
export function useOpened<T extends Closable>(open: () => Promise<T>): T {
  let value: T | undefined;
  before(async () => {
    value = await open();
  });
  after(() => value?.close());
  return new Proxy({} as T, {
    get(_, name) {
      const member: unknown = Reflect.get(value ?? {}, name, value);
      return typeof member === 'function' ? member.bind(value) : member;
    },
  });
}

export const mochaHooks = {
  async afterAll() {
    const failures: unknown[] = [];
    // Close in reverse order: a later object may need an earlier object.
    for (const each of [...opened].reverse()) {
      const value = await each.catch(() => undefined);
      await value?.close().catch((error: unknown) => failures.push(error));
    }
    opened.clear();
    removeTempFolders();
    if (failures.length > 0) throw failures[0];
  },
};
