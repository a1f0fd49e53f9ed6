/** Place in the feed of changes that `reachline changes` has reached, in a file of its own. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { replaceFile } from '../../shared/fs.js';
import { CommandError } from '../errors.js';

export interface ChangesState {
  version: 1;
  organization_id: string;
  /** Digest of the filter; another filter begins a new run. */
  filter: string;
  /** Id of one reading of the feed from its beginning. */
  run: string;
  /** Whether the receiver has acknowledged `changes.complete`. */
  complete: boolean;
  /** Cursor of the page that is being delivered; null for the first. */
  cursor: string | null;
  /** By the id of each contact of this page: digest of its change that was acknowledged last. */
  delivered: Record<string, string>;
  /** Number of the message of this run that was announced last. */
  message: number;
  /** Digest of what that message contains, until it is acknowledged. Nothing else may be sent with the same number. */
  announced: string | null;
}

export const newRun = (organization_id: string, filter: string): ChangesState => ({
  version: 1,
  organization_id,
  filter,
  run: randomUUID(),
  complete: false,
  cursor: null,
  delivered: {},
  message: 0,
  announced: null,
});

/** The state in a file; undefined for text that this command did not write. */
function parseState(text: string): ChangesState | undefined {
  let value: Record<string, unknown>;
  try {
    value = (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const isText = (name: string) => typeof value[name] === 'string';
  const isState =
    value.version === 1 &&
    ['organization_id', 'filter', 'run'].every(isText) &&
    ['cursor', 'announced'].every((name) => value[name] === null || isText(name)) &&
    typeof value.complete === 'boolean' &&
    Number.isSafeInteger(value.message) &&
    Object.values(value.delivered ?? [0]).every((digest) => typeof digest === 'string');
  return isState ? (value as unknown as ChangesState) : undefined;
}

/** Throws CommandError for files that it cannot read, and for a file that another process has replaced. */
export class StateFile {
  readonly #path: string;
  /** Distinguishes a file that this process wrote from a file with the same state that another process wrote. */
  readonly #savedBy = randomUUID();
  #content: string | undefined;
  #state: ChangesState | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#content = this.#read();
    if (this.#content === undefined) return;
    this.#state = parseState(this.#content);
    if (!this.#state) {
      throw new CommandError(`${path} is no state file of this command. Name another with --state.`);
    }
  }

  get state(): ChangesState | undefined {
    return this.#state;
  }

  /** The file has the new state, on disk, when this returns. */
  save(state: ChangesState): ChangesState {
    if (this.#read() !== this.#content) {
      throw new CommandError(`Another process has replaced ${this.#path}. Run one process per state file.`);
    }
    const content = `${JSON.stringify({ ...state, saved_by: this.#savedBy })}\n`;
    replaceFile(this.#path, content);
    this.#content = content;
    this.#state = state;
    return state;
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw new CommandError(`The state file cannot be read: ${message}`);
    }
  }
}
