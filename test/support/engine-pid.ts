/** The process of the embedded ClickHouse of a server in a process of its own. */
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerProcess } from './server-process.js';
import { until } from './until.js';

/** A file of a process under /proc. */
export const procFile = (pid: number, name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8');

/** The process of the engine of a server; undefined where none runs. */
export function enginePid(server: ServerProcess): number | undefined {
  const children = readdirSync(`/proc/${server.pid}/task`).flatMap((thread) =>
    procFile(server.pid, `task/${thread}/children`).trim().split(' ').filter(Boolean).map(Number),
  );
  return children.find((pid) => {
    try {
      return procFile(pid, 'cmdline').startsWith('reachline engine');
    } catch {
      return false;
    }
  });
}

/** Waits for the engine to run. */
export async function runningEngine(server: ServerProcess): Promise<number> {
  await until(() => enginePid(server) !== undefined, 'the engine runs');
  return enginePid(server) as number;
}

export const isAlive = (pid: number) => {
  try {
    return !/^\d+ \(.*\) Z/.test(procFile(pid, 'stat'));
  } catch {
    return false;
  }
};
