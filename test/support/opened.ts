import { removeTempFolders } from './temp-folder.js';

/**
 * Closes what a file of tests has left open, so that none fails for another: a process has at most one engine, and a hook that
 * timed out closes nothing.
 */
interface Closable {
  close(): Promise<void>;
}

const opened = new Set<Promise<Closable>>();

/** What is being opened, to be closed when its file of tests ends, unless it has been. */
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

export const mochaHooks = {
  async afterAll() {
    const left = [...opened];
    opened.clear();
    const values = await Promise.allSettled(left);
    await Promise.all(values.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)));
    removeTempFolders();
  },
};
