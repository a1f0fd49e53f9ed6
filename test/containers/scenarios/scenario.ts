import type { ContainerStack } from '../container-stack.js';

export interface Outcome {
  /** What clients saw, with figures. */
  seen: string;
  /** What was acknowledged, or committed, and is gone. */
  lost: string;
}

/** Something that is done to the containers. It leaves them as it found them, and throws when what it promises does not hold. */
export interface Scenario {
  name: string;
  /** What is done. */
  done: string;
  run(stack: ContainerStack): Promise<Outcome>;
}

export const NOTHING = 'nothing';
