import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, resolve } from 'node:path';
import { CommandError } from '../errors.js';

export interface StateLock {
  release(): void;
}

/**
 * Locks a state file for this process, before the file exists too. The lock is a socket without a file (Linux only), which the kernel closes
 * however the process ends. Throws CommandError if another process of this machine holds the lock, and if there is no folder for the file.
 */
export async function lockStateFile(path: string): Promise<StateLock> {
  if (process.platform !== 'linux') return { release: () => undefined };
  // The folder may have several paths.
  const folder = statSync(dirname(resolve(path)), { bigint: true, throwIfNoEntry: false });
  if (!folder) throw new CommandError(`There is no folder for the state file ${path}.`);
  const { dev, ino } = folder;
  const file = createHash('sha256')
    .update(`${dev} ${ino} ${basename(path)}`)
    .digest('hex')
    .slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((done, fail) => {
    server.once('error', fail).listen({ path: `\0reachline-changes-${file}`, exclusive: true }, done);
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CommandError(`Another process uses ${path}. Run one process per state file.`);
  });
  return { release: () => void server.close() };
}
