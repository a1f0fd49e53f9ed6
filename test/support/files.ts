import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Which files of a folder hold which of the texts, whatever its case. Texts are ASCII in lower case. */
export function filesWith(folder: string, texts: readonly string[]): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.flatMap((file) => {
    let content: string;
    try {
      content = readFileSync(join(file.parentPath, file.name), 'latin1').toLowerCase();
    } catch {
      // A running server has just deleted it.
      return [];
    }
    return texts.filter((text) => content.includes(text)).map((text) => `${file.name}: ${text}`);
  });
}
