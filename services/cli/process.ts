import { isatty } from 'node:tty';
import { emptyStandardInput, isStandardInput } from './io.js';
import { run } from './run.js';

const args = process.argv.slice(2);

// Standard input may be the list that a shell loop reads, so the command must not consume it.
if (!isatty(0) && args[0] !== 'mcp' && !args.some(isStandardInput)) emptyStandardInput();

// A reader that closes the pipe early, such as head, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await run(args, {
  // Opened only when it is used: once Node.js has opened it, another process cannot read it (ingest/input.ts).
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
});
