/** The engine in this process: the only file that imports `chdb`. Load it with `import()`: an installation may lack the package. */
import { existsSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { drainPending, Session } from 'chdb';
import { ensureDir, packageRoot } from '../../shared/fs.js';
import { FULL_DISK_BYTES } from '../../shared/health.js';
import { type Sql, sql, textLiteral } from '../../shared/sql.js';
import { DiskFullError, StoreUnavailableError } from '../../shared/store-errors.js';
import type { Rows } from './client.js';
import { FolderInUseError } from './errors.js';

/** Output of a statement, in the requested format. */
export interface EngineResult {
  bytes(): Uint8Array;
  /** Rows of the result, or rows written by an insert with data. */
  rowsRead: number;
  bytesRead: number;
  /** Seconds. */
  elapsed: number;
}

/** A connection with settings, parameters, roles and a database of its own. Runs one statement at a time. */
export interface EngineSession {
  /** Exactly one statement: chdb would run several of one text, and nothing tells it not to. */
  run(statement: Sql, format: string): Promise<EngineResult>;
  /** The rows stand apart from the statement. The client of chdb would write settings, statement and rows into one text. */
  insert(rows: Rows): Promise<void>;
  close(): void;
}

export interface Engine {
  session(): EngineSession;
  /**
   * Ends the statement that begins with a comment, if it runs. Blocks the event loop for a few milliseconds, but needs no thread of the
   * pool, which long statements may fill.
   */
  kill(comment: string): void;
  /** Resolves when the folder is free. Sessions must be closed before. */
  close(): Promise<void>;
}

/** Sizes of the engine's caches, the memory of the whole engine, and its users. */
const CONFIG_FILE = join(packageRoot, 'mappings/clickhouse/embedded.xml');

/** Opens a folder, created when missing. Throws `FolderInUseError` when another process has it. */
export function openEngine(path: string, configFile = CONFIG_FILE): Engine {
  const folder = resolve(path);
  // Opened first and kept: it boots the engine with our configuration, which later connections share.
  const first = boot(folder, configFile);
  return {
    session() {
      const session = new Session(folder);
      return {
        run: (statement, format) => session.queryAsync(statement.text, { format }),
        async insert({ table, columns, text }) {
          await session.insert({ table, columns: [...columns], values: text, format: 'TabSeparated' });
        },
        close: () => session.close(),
      };
    },
    kill(comment) {
      try {
        first.query(sql`KILL QUERY WHERE startsWith(query, ${textLiteral(comment)}) ASYNC`.text, 'Null');
      } catch {
        // The statement has already ended.
      }
    },
    async close() {
      first.close();
      // Connections are released in the background; only then is the folder free.
      await drainPending();
    },
  };
}

function boot(folder: string, configFile: string): Session {
  try {
    ensureDir(folder);
    checkRoom(folder);
    // Without a file of its own the engine would read a config.xml of the working directory.
    return new Session(folder, { connectionArgs: [`--config-file=${configFile}`] });
  } catch (cause) {
    // The engine prints why (code 76, "Cannot lock file") but only says that it failed. It locks this file while open.
    if (cause instanceof DiskFullError) throw cause;
    if (existsSync(join(folder, 'status'))) throw new FolderInUseError(folder, { cause });
    throw new StoreUnavailableError('analytics', { cause });
  }
}

/** The engine never again opens a folder in which the disk was full as it wrote its first files. */
function checkRoom(folder: string): void {
  if (existsSync(join(folder, 'store'))) return;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= FULL_DISK_BYTES) return;
  throw new DiskFullError('analytics', { cause: new Error('the disk is full') });
}
