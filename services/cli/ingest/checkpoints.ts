import { hash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** How far a file was loaded before an interruption. */
export interface Checkpoint {
  /** Records at its beginning that are accepted or rejected. */
  records: number;
  isDone: boolean;
}

type Entries = Record<string, Checkpoint & { file: string }>;

/**
 * Checkpoints of interrupted loads, in one file. It exists while there are any: a command that comes to its end deletes its own, so that
 * the same command then loads everything again.
 */
export class Checkpoints {
  readonly #path: string;
  /** What the checkpoints depend on besides the file: stream, destination and options. */
  readonly #context: unknown;
  /** A file that grows meanwhile is another one for the next command. */
  readonly #keys = new Map<string, string>();

  constructor(path: string, context: unknown) {
    this.#path = path;
    this.#context = context;
  }

  /** Undefined when there is none, or the file has changed. */
  find(file: string): Checkpoint | undefined {
    return this.#read()[this.#keyOf(file)];
  }

  save(file: string, checkpoint: Checkpoint): void {
    this.#write({ ...this.#read(), [this.#keyOf(file)]: { file: resolve(file), ...checkpoint } });
  }

  /** Deletes those of these files. */
  clear(files: readonly string[]): void {
    const entries = this.#read();
    const keys = files.map((file) => this.#keyOf(file)).filter((key) => key in entries);
    if (keys.length === 0) return;
    for (const key of keys) delete entries[key];
    if (Object.keys(entries).length === 0) rmSync(this.#path, { force: true });
    else this.#write(entries);
  }

  #keyOf(file: string): string {
    let key = this.#keys.get(file);
    if (key === undefined) {
      const { size, mtimeMs } = statSync(file);
      key = hash('sha256', JSON.stringify([resolve(file), size, mtimeMs, this.#context]));
      this.#keys.set(file, key);
    }
    return key;
  }

  /** Without a readable file everything is loaded again. */
  #read(): Entries {
    if (!existsSync(this.#path)) return {};
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as Entries;
    } catch {
      return {};
    }
  }

  /** Without a place to write it, an interrupted load begins anew. */
  #write(entries: Entries): void {
    const next = `${this.#path}.${process.pid}`;
    try {
      writeFileSync(next, JSON.stringify(entries));
      renameSync(next, this.#path);
    } catch (error) {
      if (!/^(EACCES|EROFS|EPERM|ENOENT|ENOSPC)$/.test((error as NodeJS.ErrnoException).code ?? ''))
        throw error;
    }
  }
}
