import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { type Config, ConfigError, ignoredVariablesWarning, loadConfig } from '../../shared/config.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import { inspectParts } from '../../stores/clickhouse/inspect.js';
import { findDamagedParts } from '../../stores/clickhouse/parts.js';
import { LockHeldError } from '../../stores/data-folder/errors.js';
import { readLastBackup } from '../../stores/data-folder/last-backup.js';
import { timeNoteOf } from '../../stores/data-folder/time-note.js';
import { openStores } from '../../stores/open-stores.js';
import { type CheckResult, cannotAnswer, checkServers } from '../check-servers.js';
import { EXIT, explain } from '../errors.js';
import { findServer, request } from '../http.js';
import { type Io, printMarked, printOut } from '../io.js';
import { describeRetention } from '../retention.js';

const NEEDED_NODE = [20, 19] as const;
/** Merges of ClickHouse and the write-ahead log of SQLite need free space in addition to the data. */
const NEEDED_BYTES = 500 * 1024 * 1024;
const GIB = 1024 ** 3;

export interface DoctorOptions {
  /** Also reads all stored data and checks its integrity. */
  deep?: boolean;
  /** Records the current time in the data folder as right. After a clock jump, deletions by age wait for this. */
  acceptClock?: boolean;
}

/** Resolves with exit code 1 if a check fails. Opening embedded stores migrates them, as `serve` does; stores on servers are only read. */
export async function doctor(io: Io, { deep = false, acceptClock }: DoctorOptions = {}): Promise<number> {
  let problems = 0;
  let warnings = 0;
  const warn = (text: string) => {
    warnings++;
    printMarked(io, 'yellow', '!', text);
  };
  const show = (result: CheckResult) => {
    if ('ok' in result) printMarked(io, 'green', '✓', result.ok);
    else if ('warning' in result) warn(result.warning);
    else {
      for (const line of result.failed.split('\n')) {
        problems++;
        printMarked(io, 'red', '✗', line);
      }
    }
  };
  show(checkNode(process.versions.node));
  const config = readConfig(io);
  if ('failed' in config) show(config);
  else {
    show({ ok: 'The settings are valid' });
    show({ ok: describeRetention(config.retention) });
    if (acceptClock) show(noteTime(config));
    const warning = ignoredVariablesWarning(config.ignoredVariables);
    if (warning !== null) warn(warning);
    const results = await checkServers(config);
    if (isEmbedded(config)) results.push(...checkData(config.dataDir));
    results.forEach(show);
    const stores = isEmbedded(config) && results.every(isOk) ? await openOnce(config, deep) : undefined;
    const server = await findServer(config);
    if (server === undefined) show(await checkPort(config));
    else if (!stores) show({ ok: `A Reachline server answers at ${server}` });
    else if (stores.server !== server) warn(otherFolder(config, server));
    if (stores?.isUsed) {
      const backup = readLastBackup(config.dataDir);
      if (backup) show({ ok: `The last backup, ${backup.folder}, was taken at ${backup.taken_at}` });
      else warn('No backup of the data folder was taken yet: reachline backup <folder>');
    }
    if (stores) show(stores.result);
    for (const problem of stores?.clockProblems ?? []) show({ failed: problem });
    if (deep) (await checkWhole(config, stores)).forEach(show);
  }
  printOut(io, verdict(problems, warnings));
  return problems === 0 ? EXIT.ok : EXIT.failed;
}

function verdict(problems: number, warnings: number): string {
  if (problems > 0) return `${problems} ${problems === 1 ? 'problem' : 'problems'} to fix.`;
  if (warnings > 0)
    return `Nothing is broken. ${warnings === 1 ? '1 line' : `${warnings} lines`} with ! to look at.`;
  return 'All is well.';
}

const isOk = (result: CheckResult) => !('failed' in result);

/** Whether the data folder holds at least one store. */
const isEmbedded = ({ elasticsearch, clickhouse }: Config) => !elasticsearch || !clickhouse;

function checkNode(version: string): CheckResult {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [neededMajor, neededMinor] = NEEDED_NODE;
  const fits = major > neededMajor || (major === neededMajor && minor >= neededMinor);
  return fits
    ? { ok: `Node.js ${version}` }
    : { failed: `Node.js ${version} is too old: install ${neededMajor}.${neededMinor} or newer` };
}

function readConfig(io: Io): Config | { failed: string } {
  try {
    return loadConfig(io.env);
  } catch (error) {
    if (error instanceof ConfigError) return { failed: error.message };
    throw error;
  }
}

/** The folder, or its nearest existing parent, in which it would be created. */
function nearest(folder: string): string {
  let path = resolve(folder);
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path);
  return path;
}

function checkData(dataDir: string): CheckResult[] {
  const folder = checkFolder(dataDir);
  return isOk(folder) ? [folder, checkDisk(dataDir)] : [folder];
}

function checkFolder(dataDir: string): CheckResult {
  const path = nearest(dataDir);
  if (!statSync(path).isDirectory()) {
    return { failed: `${path} is a file: set REACHLINE_DATA_DIR to a folder` };
  }
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return {
      failed: `${path} cannot be written by this user: change its permissions, or set REACHLINE_DATA_DIR to another folder`,
    };
  }
  return path === resolve(dataDir)
    ? { ok: `The data folder ${path} can be written` }
    : { ok: `The data folder ${resolve(dataDir)} does not exist yet; serve creates it` };
}

function checkDisk(dataDir: string): CheckResult {
  const { bavail, bsize } = statfsSync(nearest(dataDir));
  const free = bavail * bsize;
  const text = `${(free / GIB).toFixed(1)} GiB free on the disk of the data folder`;
  return free >= NEEDED_BYTES ? { ok: text } : { failed: `Only ${text}: free at least 0.5 GiB` };
}

function checkPort({ host, port }: Config): Promise<CheckResult> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const why = taken ? 'is used by another program' : `cannot be listened on (${error.code})`;
      done({ failed: `Port ${port} on ${host} ${why}: set PORT or HOST to others` });
    });
    server.listen(port, host, () => server.close(() => done({ ok: `Port ${port} on ${host} is free` })));
  });
}

/** Result of opening the embedded stores. */
interface Opened {
  result: CheckResult;
  /** Whether a data folder exists and its stores open, in this process or in the server that uses the folder. */
  isUsed?: boolean;
  /** Address of the server that uses the folder. */
  server?: string;
  /** Messages about a clock that jumped since the folder was last open. */
  clockProblems?: string[];
  /** Damaged parts of ClickHouse. Set only if this process opened the stores and checked the parts. */
  damagedParts?: string[];
}

async function openOnce(config: Config, deep: boolean): Promise<Opened> {
  const folder = resolve(config.dataDir);
  if (!existsSync(folder)) return { result: { ok: 'serve creates the stores when it first runs' } };
  try {
    const stores = await openStores(config);
    try {
      await stores.records.ping();
      await stores.analytics.ping();
      const damagedParts = deep && !config.clickhouse ? await findDamagedParts(stores.analytics) : [];
      const isServed = config.elasticsearch !== null || config.clickhouse !== null;
      // Clock problems of stores on servers are reported with those servers.
      const clockProblems = isServed ? [] : stores.clocks?.problems();
      const result = { ok: 'The stores open and are up to date' };
      return { result, isUsed: true, damagedParts, clockProblems };
    } finally {
      await stores.close();
    }
  } catch (error) {
    if (error instanceof StoreUnavailableError) return { result: { failed: cannotAnswer(error) } };
    if (!(error instanceof LockHeldError)) return { result: { failed: explain(error).message } };
    const server = await findServer({ ...config, port: error.owner?.port ?? 0 });
    if (server === undefined) return { result: { failed: error.message }, isUsed: true };
    return { ...(await checkReady(folder, server)), isUsed: true, server };
  }
}

/** A folder that a running server uses counts as healthy if the server is ready, on whatever port it listens. */
async function checkReady(folder: string, server: string): Promise<Pick<Opened, 'result' | 'clockProblems'>> {
  const answer = await request(`${server}/readyz`, {}, 5000).catch(() => undefined);
  if (answer?.status !== 200)
    return { result: { failed: `The server at ${server} is not ready (${server}/readyz): see its log` } };
  const { problems } = JSON.parse(answer.text) as { problems?: string[] };
  return {
    result: { ok: `The stores of ${folder} are open in the server at ${server}, which is ready` },
    clockProblems: problems,
  };
}

/** Records the current time in the data folder. A server that uses the folder reads it within a minute. */
function noteTime({ dataDir, elasticsearch, clickhouse }: Config): CheckResult {
  if (elasticsearch || clickhouse)
    return {
      failed: '--accept-clock is for embedded stores; clocks of servers are compared with this clock',
    };
  if (!existsSync(dataDir)) return { failed: 'There is no data folder yet in which to record the time' };
  const note = timeNoteOf(dataDir);
  const now = Date.now();
  note.write(now);
  return note.read() === now
    ? { ok: `The data folder now records ${new Date(now).toISOString()} as the right time` }
    : { failed: `The time could not be recorded in ${resolve(dataDir)}` };
}

const RESTORE = 'restore it from a backup';

/** Checks of `--deep`: every page of SQLite, every part of ClickHouse. */
async function checkWhole(config: Config, stores: Opened | undefined): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const hasFolder = existsSync(resolve(config.dataDir));
  if (!config.elasticsearch && hasFolder) {
    const { checkIntegrity } = await import('../../stores/sqlite/integrity.js');
    results.push(...whole('The records store', checkIntegrity(config.dataDir)));
  }
  if (config.clickhouse) results.push(...whole('The analytics store', await inspectParts(config.clickhouse)));
  else if (stores?.damagedParts) results.push(...whole('The analytics store', stores.damagedParts));
  else if (hasFolder) {
    results.push({
      failed:
        'The parts of the analytics store were not checked: stop the server that uses the data folder, then run doctor --deep again',
    });
  }
  return results;
}

const whole = (store: string, problems: readonly string[]): CheckResult[] =>
  problems.length === 0
    ? [{ ok: `${store} is intact` }]
    : problems.map((problem) => ({ failed: `${store} is damaged (${problem}): ${RESTORE}` }));

const otherFolder = ({ dataDir }: Config, server: string): string =>
  `The Reachline server at ${server} uses another data folder than ${resolve(dataDir)}: to serve this folder too, set PORT to another port`;
