import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files of a folder that hold one of the texts, in any case. The texts are ASCII in lower case. */
export function filesWith(folder: string, texts: readonly string[]): string[] {
  const entries = whereStill(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesWith(path, texts);
    if (!entry.isFile()) return [];
    const content = whereStill(() => readFileSync(path, 'latin1').toLowerCase()) ?? '';
    return texts.filter((text) => content.includes(text)).map((text) => `${entry.name}: ${text}`);
  });
}

/** Undefined if a running server has just deleted what is read. */
function whereStill<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
