/**
 * Lets a command take a backup while another process has the stores open. Only that process can pause its writes and freeze the parts of
 * ClickHouse. It listens on a socket in the data folder, so that only users who may write to the folder can take a backup. The command
 * sends `freeze <name>` and reads `frozen`: from now on, nothing is written. The command opens its snapshot of SQLite and sends `release`;
 * the response `released` confirms that nothing was written in between. The frozen parts stay until the command ends its side of the
 * connection. The process ends the other side once the parts are removed, so no parts are left when the command has ended.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { withTimeout } from '../../shared/async.js';
import { ANALYTICS_FOLDER, FREEZE_SOCKET, FROZEN_PARTS_FOLDER } from '../data-folder/layout.js';
import { BackupError } from './errors.js';
import { REMOVE_OPTIONS } from './files.js';
import { removeAbandonedLinks } from './linked-files.js';

/** Milliseconds that writes wait for a silent command. */
const PAUSE_TIMEOUT_MS = 5000;
/** Milliseconds that a command waits for its turn: running inserts end first. */
const FREEZE_TIMEOUT_MS = 120_000;
/** Milliseconds that a command waits for the removal of its frozen parts. */
const RELEASE_TIMEOUT_MS = 30_000;
/** Maximum length of a socket path on macOS; Linux allows 4 bytes more. Node.js truncates a longer path without an error. */
const MAX_PATH_BYTES = 103;
/** Maximum concurrent backups. The backups pause writes one after another; further backups are rejected. */
const MAX_BACKUPS = 4;
/** Maximum bytes of all lines of one command together. */
const MAX_REQUEST_BYTES = 1024;
const FROZEN_NAME = /^\w{1,64}$/;

/** The process that holds the folder does not listen on the socket, or does not listen yet. */
export class NotListeningError extends BackupError {}

/** Runs `work` while no process writes to an embedded store and the parts of ClickHouse are hard-linked under `name`. */
export type Freeze = (name: string, work: () => Promise<void>) => Promise<void>;

export interface FreezeListener {
  close(): Promise<void>;
}

/** Listens for `reachline backup`. If the folder allows no socket, calls `onError`; backups then require the process to be stopped. */
export function listenForFreezes(
  dataDir: string,
  freeze: Freeze,
  onError: (error: Error) => void,
): Promise<FreezeListener> {
  const path = join(dataDir, FREEZE_SOCKET);
  const frozenParts = join(dataDir, ANALYTICS_FOLDER, FROZEN_PARTS_FOLDER);
  // A process that was killed may have left these files.
  rmSync(path, { force: true });
  rmSync(frozenParts, REMOVE_OPTIONS);
  removeAbandonedLinks(dataDir);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    onError(new Error(`the path ${path} is longer than ${MAX_PATH_BYTES} bytes`));
    return Promise.resolve({ close: async () => undefined });
  }
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.unref());
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    const ended = new Promise<void>((resolve) => socket.once('end', resolve).once('close', () => resolve()));
    void serveFreeze(socket, async (name, work) => {
      try {
        await freeze(name, work);
      } finally {
        // Removes the parts even if the command left before its turn. Parts that cannot be removed now are removed when the process next
        // starts.
        void ended
          .then(() => rm(join(frozenParts, name), REMOVE_OPTIONS))
          .catch(() => undefined)
          .then(() => socket.end());
      }
    });
  });
  server.maxConnections = MAX_BACKUPS;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return new Promise((resolve) => {
    server.once('error', (error) => {
      onError(error);
      resolve({ close: async () => undefined });
    });
    server.listen({ path, exclusive: true }, () => {
      chmodSync(path, 0o600);
      server.unref();
      resolve({ close });
    });
  });
}

async function serveFreeze(socket: Socket, freeze: Freeze): Promise<void> {
  const next = lineReader(socket);
  // Limits the bytes, because an endless line would be kept in memory.
  socket.on('data', () => {
    if (socket.bytesRead > MAX_REQUEST_BYTES) socket.destroy();
  });
  try {
    const name = /^freeze (.*)$/.exec(await next())?.[1] ?? '';
    if (!FROZEN_NAME.test(name)) throw new Error('freeze takes a name');
    await freeze(name, async () => {
      socket.write('frozen\n');
      const answer = await withTimeout(PAUSE_TIMEOUT_MS, next);
      if (answer !== 'release') throw new Error('the backup ended while writes were paused');
    });
    socket.write('released\n');
  } catch (error) {
    socket.end(`failed ${(error as Error).message.split('\n')[0]}\n`);
  }
}

/** Parts of ClickHouse that do not change until the command releases them. */
export interface FrozenParts {
  /** Name of the folder in `shadow` that holds the parts. */
  name: string;
  /** Resolves when the parts are removed, or the process that holds them does not respond. */
  release(): Promise<void>;
}

/**
 * Makes the process that holds the folder pause its writes while `work` runs. Throws a `BackupError` if that process does not respond, or
 * cannot pause its writes.
 */
export async function requestFreeze(dataDir: string, work: () => Promise<void>): Promise<FrozenParts> {
  // The name has only letters, digits and `_`: ClickHouse escapes other characters in the name of the folder.
  const name = `backup_${randomUUID().replaceAll('-', '')}`;
  const path = join(dataDir, FREEZE_SOCKET);
  const socket = connect(path);
  const broken = new Promise<never>((_, reject) => socket.once('error', reject));
  broken.catch(() => undefined);
  const next = lineReader(socket);
  const expectLine = async (expected: string) => {
    const line = await withTimeout(FREEZE_TIMEOUT_MS, () => Promise.race([next(), broken]));
    if (line !== expected) throw new Error(line.replace(/^failed /, '') || 'it closed the connection');
  };
  try {
    socket.write(`freeze ${name}\n`);
    await expectLine('frozen');
    await work();
    socket.write('release\n');
    await expectLine('released');
    return { name, release: () => endConnection(socket) };
  } catch (error) {
    socket.destroy();
    const { code, message } = error as NodeJS.ErrnoException;
    const isShort = Buffer.byteLength(path) <= MAX_PATH_BYTES;
    const isListening = !(isShort && (code === 'ENOENT' || code === 'ECONNREFUSED'));
    throw new (isListening ? BackupError : NotListeningError)(
      `The process that holds the data folder took no part in the backup (${code ?? message}). Try again, or stop that process first.`,
      { cause: error },
    );
  }
}

/** Ends this side of the connection, and waits until the other side has ended too. */
async function endConnection(socket: Socket): Promise<void> {
  await withTimeout(
    RELEASE_TIMEOUT_MS,
    () => new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', resolve).end())),
  ).catch(() => undefined);
  socket.destroy();
}

/** Reads one line per call. Returns an empty line at the end of the stream. */
function lineReader(socket: Socket): () => Promise<string> {
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  return async () => {
    const { done, value } = await lines.next();
    return done ? '' : value;
  };
}
