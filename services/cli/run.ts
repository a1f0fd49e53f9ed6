import { CommanderError } from 'commander';
import { EXIT, explain } from './errors.js';
import { type Io, printErr } from './io.js';
import { createProgram } from './program.js';

/** Runs the command line and resolves with its exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      const isRequested = error.code === 'commander.helpDisplayed' || error.code === 'commander.version';
      return isRequested ? EXIT.ok : EXIT.usage;
    }
    const { message, exitCode } = explain(error);
    printErr(io, message, 'red');
    if (['debug', 'trace'].includes(io.env.REACHLINE_LOG_LEVEL ?? '')) printErr(io, traceOf(error));
    return exitCode;
  }
}

function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause === undefined ? '' : `\ncaused by: ${traceOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
