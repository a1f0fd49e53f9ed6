import closeWithGrace, { type Signals } from 'close-with-grace';
import type { Logger } from 'pino';
import { EXIT } from './errors.js';

interface RunUntilSignalOptions {
  /** Milliseconds that closing may take before the process is ended. */
  delay: number;
  /** Signals that arrive twice when processes end together: from the terminal or service manager, and from their parent. */
  repeatable?: Signals[];
}

/** Runs until a signal or an uncaught error, then closes; resolves with the exit code. A second signal ends the process at once. */
export function runUntilSignal(
  close: () => Promise<void>,
  logger: Logger,
  { delay, repeatable = [] }: RunUntilSignalOptions,
): Promise<number> {
  return new Promise((resolve) => {
    let closing = false;
    const options = {
      delay,
      logger: false as const,
      skip: repeatable,
      onTimeout: (ms: number) => logger.fatal(`closing took longer than ${ms / 1000} s; the process ends`),
      onSecondError: (err: unknown) =>
        logger.fatal({ err }, 'uncaught error while closing; the process ends'),
    };
    const grace = closeWithGrace(options, async ({ err }) => {
      closing = true;
      if (err) logger.fatal({ err }, 'uncaught error; the process shuts down');
      await close().catch((error: unknown) => {
        logger.fatal({ err: error }, 'closing failed');
        throw error;
      });
      resolve(err ? EXIT.failed : EXIT.ok);
    });
    for (const signal of repeatable) process.on(signal, () => closing || grace.close());
  });
}
