import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 10;
const TIMEOUT_MS = 20_000;

/** Resolves once a condition holds; rejects with its description when it does not within `timeoutMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  description: string,
  { pollMs = POLL_MS, timeoutMs = TIMEOUT_MS } = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`it never came to this: ${description}`);
    await pause(pollMs);
  }
}
