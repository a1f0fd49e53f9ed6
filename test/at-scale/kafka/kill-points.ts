/** What a worker has done with a slice when it is killed. */
export const KILL_POINTS = [
  'after decode',
  'after dead letter',
  'during the write',
  'after the write',
  'after commit',
] as const;
export type KillPoint = (typeof KILL_POINTS)[number];
