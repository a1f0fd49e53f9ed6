import { join } from 'node:path';
import type { StreamName } from '../../../ingest/streams/index.js';
import { packageRoot } from '../../../services/shared/fs.js';
import { type Ended, endOf, spawnServer } from '../../support/server-process.js';
import type { Workers } from './workers.js';

/** Points of a batch at which a worker is killed. */
export const KILL_POINTS = [
  'after decode',
  'during the write',
  'after the write',
  'before dead letter',
  'after dead letter',
  'after commit',
] as const;
type KillPoint = (typeof KILL_POINTS)[number];

/** When worker-process.ts kills itself. */
export interface Kill {
  TEST_KILL_AT: KillPoint;
  TEST_KILL_AFTER: string;
  TEST_KILL_IN_FLIGHT_MS: string;
}

interface KilledWorker {
  ended: Promise<Ended>;
  hasEnded(): boolean;
  output(): string;
}

const ENTRY = join(packageRoot, 'dist/test/at-scale/kafka/worker-process.js');

/** Starts a worker that kills itself at the given point, if it gets that far. */
export function startKilled(workers: Workers, streams: readonly StreamName[], kill: Kill): KilledWorker {
  const environment = { ...workers.environment, ...kill };
  const child = spawnServer({ entry: ENTRY, args: streams, environment });
  let output = '';
  let over = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  const ended = endOf(child).finally(() => {
    over = true;
  });
  return { ended, hasEnded: () => over, output: () => output };
}
