/**
 * Servers for many short tests (`stack run --quick`): they compile once instead of twice, because no server runs long enough to profit from
 * more. They keep their data in memory, which survives `kill -9` like data that the disk has not written yet.
 */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/** Variable for the servers that tests start themselves. */
export const QUICK = { TEST_STACK_QUICK: '1' };
const isQuick = () => process.env.TEST_STACK_QUICK === QUICK.TEST_STACK_QUICK;

export const quickJavaOptions = (): string[] => (isQuick() ? ['-XX:TieredStopAtLevel=1'] : []);

export const serversFolder = (): string => (isQuick() && hasRoom(MEMORY) ? MEMORY : tmpdir());

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
}
