import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { issueKey } from '../../services/accounts/keys.js';
import { packageRoot } from '../../services/shared/fs.js';
import { openSqliteStore } from '../../services/stores/sqlite/store.js';
import { type Caller, callerOf } from './gateway.js';

const COMMAND = join(packageRoot, 'dist/services/cli/main.js');
/** Variables that the server does not inherit. With brokers it would put records into topics that no worker of the test reads. */
const NOT_INHERITED = new Set(['PORT', 'HOST', 'KAFKA_BROKERS']);
/** Address of the server itself, not of its SQL endpoint. */
const ADDRESS = /(?<!analysts: )http:\/\/127\.0\.0\.1:\d+/;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A server in a process of its own. */
export interface ServerProcess extends Caller {
  url: string;
  pid: number;
  /** Milliseconds from the start of the process until it prints its address. */
  startedMs: number;
  /** Everything it wrote so far, to both outputs. */
  output(): string;
  signal(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Asks the process to stop; resolves when the process is gone. */
  stop(): Promise<Ended>;
}

export interface ServerOptions {
  /** Data folder; by default the command decides. */
  dataDir?: string;
  /** The file to run; the command when absent. */
  entry?: string;
  /** Arguments of the command line; by default `serve`. */
  args?: readonly string[];
  cwd?: string;
  /** Sent unless a call names another key. */
  key?: string;
  environment?: Record<string, string>;
}

/** An API key with every scope, and credits if a balance is given. Works beside a running server. */
export async function prepareOrganization(
  dataDir: string,
  organizationId: string,
  credits?: number,
): Promise<string> {
  const accounts = await openSqliteStore({ dataDir, searchProcesses: 1 });
  try {
    if (credits !== undefined) await accounts.setCredits(organizationId, credits);
    return await issueKey(accounts, { organizationId, scopes: ['*'] });
  } finally {
    await accounts.close();
  }
}

/** A process that has only just begun to start. */
export function spawnServer(options: Omit<ServerOptions, 'key'>): ChildProcess {
  const { dataDir, entry = COMMAND, args = ['serve'], cwd, environment } = options;
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('REACHLINE_') && !NOT_INHERITED.has(name),
  );
  return spawn(process.execPath, [entry, ...args], {
    cwd,
    env: {
      ...Object.fromEntries(inherited),
      PORT: '0',
      ...(dataDir === undefined ? {} : { REACHLINE_DATA_DIR: dataDir }),
      REACHLINE_RATE_LIMIT: '0',
      REACHLINE_SEARCH_PROCESSES: '1',
      REACHLINE_LOG_LEVEL: 'error',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export function endOf(child: ChildProcess): Promise<Ended> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve({ code: child.exitCode, signal: child.signalCode });
  }
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
}

/** Runs a server that is expected to end by itself. */
export async function runServer(options: ServerOptions): Promise<Ended & { output: string; errors: string }> {
  const child = spawnServer(options);
  let output = '';
  let errors = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk;
    // The server should have ended before it listens.
    if (ADDRESS.test(output)) child.kill('SIGKILL');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  return { ...(await endOf(child)), output, errors };
}

/** Resolves when the server listens; if the process ends before, rejects with what it wrote. */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const begun = performance.now();
  const child = spawnServer(options);
  const ended = endOf(child);
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const [address] = ADDRESS.exec(output) ?? [];
      if (address) resolve(address);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    void ended.then(({ code, signal }) =>
      reject(new Error(`the server ended with ${code ?? signal}: ${output}`)),
    );
  });
  const startedMs = performance.now() - begun;

  return {
    url,
    pid: child.pid as number,
    startedMs,
    output: () => output,
    ...callerOf(url, options.key),
    signal: (signal) => child.kill(signal),
    ended,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
