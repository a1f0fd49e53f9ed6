import { isatty } from 'node:tty';
import { emptyStandardInput, isStandardInput } from './io.js';
import { run } from './run.js';

const args = process.argv.slice(2);

// It may be the list that the loop of a shell goes through.
if (!isatty(0) && args[0] !== 'mcp' && !args.some(isStandardInput)) emptyStandardInput();

// A reader that closes the pipe early, such as head, is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await run(args, {
  // Not before it is used: once Node.js has it, another process cannot read it (ingest/input.ts).
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
});
