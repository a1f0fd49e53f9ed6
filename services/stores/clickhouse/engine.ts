/** The engine in its own process (engine-process.ts), which the gateway can kill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { sleep, withTimeout } from '../../shared/async.js';
import { ensureDir, packageRoot } from '../../shared/fs.js';
import { FULL_DISK_BYTES } from '../../shared/health.js';
import { type Sql, sql, textLiteral } from '../../shared/sql.js';
import { DiskFullError, StoreUnavailableError } from '../../shared/store-errors.js';
import {
  type Bytes,
  type EngineFailure,
  type EngineRequest,
  type EngineResponse,
  readFrames,
  sendFrame,
} from './engine-frames.js';
import { EngineEndedError, FolderInUseError } from './errors.js';
import type { Rows } from './rows.js';

/** Output of a statement, in the requested format. */
export interface EngineResult {
  bytes(): Uint8Array;
  /** Number of rows of the result. */
  rowsRead: number;
  bytesRead: number;
  /** Duration of the statement in seconds. */
  elapsed: number;
}

export interface RunOptions {
  /** Statements such as `SET` and `USE`, which the engine runs one by one before the statement. */
  preparations?: readonly Sql[];
  signal?: AbortSignal | undefined;
}

/**
 * A connection with its own settings, parameters, roles and database. Runs one statement at a time. Throws `EngineEndedError` for a
 * statement during which the engine ended, and for every later statement.
 */
export interface EngineSession {
  /**
   * Runs exactly one statement: chdb would run several statements from one text, and this cannot be disabled. Aborting the signal ends the
   * statement. If the statement does not end, the engine is killed and starts again.
   */
  run(statement: Sql, format: string, options?: RunOptions): Promise<EngineResult>;
  /** Inserts rows, which are passed separately from the statement. */
  insert(rows: Rows, preparations?: readonly Sql[]): Promise<void>;
  /** Whether the engine of this session has ended. */
  readonly isLost: boolean;
  close(): void;
}

export interface Engine {
  session(): EngineSession;
  /** Resolves when the folder is free. */
  close(): Promise<void>;
}

export interface EngineOptions {
  configFile?: string | undefined;
  /** Called when the engine ends by itself or is killed. The engine then starts again. */
  onEnded?: ((error: EngineEndedError) => void) | undefined;
  /** Runs whenever the engine has started, before all other statements. If this throws, the engine is ended. */
  verify?(run: (statement: Sql, format: string) => Promise<EngineResult>): Promise<void>;
}

/** Sizes of the engine's caches, the memory of the whole engine, and its users. */
const CONFIG_FILE = join(packageRoot, 'mappings/clickhouse/embedded.xml');
const ENTRY = join(packageRoot, 'dist/services/stores/clickhouse/engine-process.js');
/** Maximum concurrent statements: reports, inserts, background jobs and SQL of analysts. */
const THREADS = 8;
/** Environment variables that any program needs. The gateway's own variables are left out, because they contain passwords. */
const ENVIRONMENT = /^(PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|NODE_OPTIONS|NODE_V8_COVERAGE)$/;

/** Milliseconds that a cancelled statement has to end. Most statements end between two blocks. */
const ENDING_MS = 3000;
/** Milliseconds between two attempts to kill a statement, because the engine may not have started it at the first attempt. */
const KILL_INTERVAL_MS = 200;
/** Milliseconds to wait for the engine of a killed gateway, which ends when it notices the end of the gateway. */
const RELEASE_MS = 3000;
const RELEASE_INTERVAL_MS = 200;
/** Milliseconds that running statements may take when the engine is closed. */
const CLOSE_MS = 3000;
/** Milliseconds before the engine starts again after a failed start. */
const RESTART_MS = 1000;

/** Opens a folder, and creates a missing folder. Throws `FolderInUseError` if another process uses the folder. */
export async function openEngine(path: string, options: EngineOptions = {}): Promise<Engine> {
  const folder = resolve(path);
  prepareFolder(folder);
  const engine = new EngineClient(folder, options);
  await engine.start(RELEASE_MS);
  return engine;
}

class EngineClient implements Engine {
  readonly #folder: string;
  readonly #options: EngineOptions;
  #process: Promise<EngineProcess> | undefined;
  #startedAt = 0;
  #isClosed = false;
  #sessions = 0;

  constructor(folder: string, options: EngineOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Starts a process. First waits for an earlier process of the folder to end. */
  async start(releaseMs: number): Promise<EngineProcess> {
    const startedAt = performance.now();
    for (;;) {
      try {
        return await this.current();
      } catch (error) {
        if (!(error instanceof FolderInUseError) || performance.now() - startedAt > releaseMs) throw error;
        await sleep(RELEASE_INTERVAL_MS);
      }
    }
  }

  /** The running process, or the process that is starting. */
  async current(): Promise<EngineProcess> {
    if (this.#isClosed) throw new StoreUnavailableError('analytics');
    this.#process ??= this.#startProcess().catch((error: unknown) => {
      this.#process = undefined;
      throw error;
    });
    return this.#process;
  }

  session(): EngineSession {
    const id = ++this.#sessions;
    let bound: EngineProcess | undefined;
    const use = async () => {
      bound ??= await this.current().catch((cause: unknown) => {
        throw cause instanceof StoreUnavailableError
          ? cause
          : new StoreUnavailableError('analytics', { cause });
      });
      return bound;
    };
    return {
      async run(statement, format, options = {}) {
        options.signal?.throwIfAborted();
        return (await use()).run({ session: id, format }, statement, options);
      },
      async insert(rows, preparations = []) {
        await (await use()).insert(id, rows, preparations);
      },
      get isLost() {
        return bound?.hasEnded ?? false;
      },
      close: () => bound?.send({ op: 'close', session: id }),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const process = await this.#process?.catch(() => undefined);
    await process?.close();
  }

  async #startProcess(): Promise<EngineProcess> {
    const pause = this.#startedAt + RESTART_MS - performance.now();
    if (this.#startedAt > 0 && pause > 0) await sleep(pause);
    this.#startedAt = performance.now();
    const process = await EngineProcess.start(this.#folder, this.#options.configFile ?? CONFIG_FILE);
    try {
      await this.#options.verify?.((statement, format) => process.run({ session: 0, format }, statement, {}));
    } catch (error) {
      await process.close();
      throw error;
    }
    void process.ended.then((error) => {
      if (this.#isClosed) return;
      this.#options.onEnded?.(error);
      this.#process = undefined;
      // Starts the next process at once, so that the next statement waits less.
      this.current().catch(() => undefined);
    });
    return process;
  }
}

const textOf = ({ text }: Sql) => text;

interface Pending {
  resolve(result: EngineResult): void;
  reject(error: unknown): void;
}

/** One engine process, from its start to its end. */
class EngineProcess {
  readonly #child: ChildProcess;
  readonly #socket: Duplex;
  readonly #pending = new Map<number, Pending>();
  readonly #ready: Promise<void>;
  /** Resolves when the process is gone. */
  readonly ended: Promise<EngineEndedError>;
  hasEnded = false;
  #last = 0;

  private constructor(folder: string, configFile: string) {
    this.#child = spawn(process.execPath, [ENTRY, folder, configFile], {
      cwd: folder,
      env: {
        ...Object.fromEntries(Object.entries(process.env).filter(([name]) => ENVIRONMENT.test(name))),
        UV_THREADPOOL_SIZE: String(THREADS),
      },
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    });
    this.#socket = this.#child.stdio[3] as Duplex;
    this.#socket.on('error', () => {});
    let isReady: () => void = () => {};
    this.#ready = new Promise((resolve) => {
      isReady = resolve;
    });
    readFrames<EngineResponse>(this.#socket, (response, bytes) =>
      response.op === 'ready' ? isReady() : this.#settle(response, bytes),
    );
    this.ended = new Promise((resolve) => {
      const end = (how: string, cause?: Error) => {
        if (this.hasEnded) return;
        this.hasEnded = true;
        const error = new EngineEndedError(how, { cause });
        for (const { reject } of this.#pending.values()) reject(error);
        this.#pending.clear();
        resolve(error);
      };
      this.#child.on('error', (error) => this.#child.pid === undefined && end('an error', error));
      this.#child.on('exit', (code, signal) => end(String(signal ?? code)));
    });
  }

  static async start(folder: string, configFile: string): Promise<EngineProcess> {
    const started = new EngineProcess(folder, configFile);
    const error = await Promise.race([started.#ready, started.ended]);
    if (!error) return started;
    // The engine prints the reason (code 76, "Cannot lock file"), but returns only that opening failed. The engine locks this file while it
    // has the folder open.
    if (existsSync(join(folder, 'status'))) throw new FolderInUseError(folder, { cause: error });
    throw error;
  }

  run(
    { session, format }: { session: number; format: string },
    statement: Sql,
    { preparations = [], signal }: RunOptions,
  ): Promise<EngineResult> {
    const id = ++this.#last;
    const tag = sql`/* ${id} */`;
    const tagged = sql`${tag} ${statement}`;
    const running = this.#ask(
      { op: 'run', id, session, format, preparations: preparations.map(textOf) },
      Buffer.from(tagged.text),
    );
    return signal ? this.#endAtAbort(running, tag, signal) : running;
  }

  async insert(
    session: number,
    { table, columns, text, format = 'TabSeparated' }: Rows,
    preparations: readonly Sql[],
  ): Promise<void> {
    const id = ++this.#last;
    await this.#ask(
      { op: 'insert', id, session, table, columns, format, preparations: preparations.map(textOf) },
      Buffer.from(text),
    );
  }

  send(request: EngineRequest, bytes?: Bytes): void {
    if (!this.hasEnded) sendFrame(this.#socket, request, bytes);
  }

  /** Resolves when the process is gone. */
  async close(): Promise<void> {
    this.send({ op: 'end' });
    await withTimeout(CLOSE_MS, () => this.ended).catch(() => this.#child.kill('SIGKILL'));
    await this.ended;
  }

  #ask(request: Extract<EngineRequest, { id: number }>, bytes: Bytes): Promise<EngineResult> {
    return new Promise((resolve, reject) => {
      if (this.hasEnded) return reject(new EngineEndedError('an earlier end'));
      this.#pending.set(request.id, { resolve, reject });
      this.send(request, bytes);
    });
  }

  /** Repeatedly tells the engine to end the statement, and kills the process if the statement does not end. */
  async #endAtAbort(running: Promise<EngineResult>, tag: Sql, signal: AbortSignal): Promise<EngineResult> {
    const timers: NodeJS.Timeout[] = [];
    const kill = sql`KILL QUERY WHERE startsWith(query, ${textLiteral(tag.text)}) ASYNC`;
    const end = () => {
      const tell = () => this.send({ op: 'kill' }, Buffer.from(kill.text));
      tell();
      timers.push(setInterval(tell, KILL_INTERVAL_MS));
      timers.push(setTimeout(() => this.#child.kill('SIGKILL'), ENDING_MS));
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    try {
      return await running;
    } finally {
      signal.removeEventListener('abort', end);
      for (const timer of timers) clearTimeout(timer);
    }
  }

  #settle(response: Exclude<EngineResponse, { op: 'ready' }>, bytes: Buffer): void {
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if (response.op === 'failure') pending?.reject(new EngineError(response.error));
    else {
      const { rowsRead, bytesRead, elapsed } = response;
      pending?.resolve({ bytes: () => bytes, rowsRead, bytesRead, elapsed });
    }
  }
}

/** An error of chdb or of ClickHouse. */
class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly clickhouseCode: number | undefined;
  readonly code: string | undefined;

  constructor({ message, clickhouseCode, code }: EngineFailure) {
    super(message);
    this.clickhouseCode = clickhouseCode;
    this.code = code;
  }
}

/**
 * Throws `DiskFullError` for a new folder on a full disk: if the disk is full while the engine writes its first files, the engine can never
 * open the folder again.
 */
function prepareFolder(folder: string): void {
  try {
    ensureDir(folder);
    if (existsSync(join(folder, 'store'))) return;
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize >= FULL_DISK_BYTES) return;
  } catch (cause) {
    throw new StoreUnavailableError('analytics', { cause });
  }
  throw new DiskFullError('analytics', { cause: new Error('the disk is full') });
}
