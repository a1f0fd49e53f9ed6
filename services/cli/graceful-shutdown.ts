import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import { EXIT } from './errors.js';

interface RunUntilSignalOptions {
  /** Milliseconds that closing may take before the process is ended by force. */
  delay: number;
}

/** Runs until a signal or an uncaught error, then closes, and resolves with the exit code. A second signal ends the process at once. */
export function runUntilSignal(
  close: () => Promise<void>,
  logger: Logger,
  { delay }: RunUntilSignalOptions,
): Promise<number> {
  return new Promise((resolve) => {
    const options = {
      delay,
      logger: false as const,
      onTimeout: (ms: number) => logger.fatal(`closing took longer than ${ms / 1000} s; the process ends`),
      onSecondError: (err: unknown) =>
        logger.fatal({ err }, 'uncaught error while closing; the process ends'),
    };
    closeWithGrace(options, async ({ err }) => {
      if (err) logger.fatal({ err }, 'uncaught error; the process shuts down');
      await close().catch((error: unknown) => {
        logger.fatal({ err: error }, 'closing failed');
        throw error;
      });
      resolve(err ? EXIT.failed : EXIT.ok);
    });
  });
}
