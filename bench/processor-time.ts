import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** Milliseconds that a process, its children, and the children that it waited for have run. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  const own = ticks.reduce((sum, each) => sum + each, 0) * TICK_MS;
  return childrenOf(pid).reduce((sum, child) => sum + cpuMs(child), own);
}

function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}
