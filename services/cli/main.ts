#!/usr/bin/env node
import { run } from './run.js';

// A reader that closes the pipe early, such as head, is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await run(process.argv.slice(2), {
  // Not before it is used: once Node.js has it, another process cannot read it (ingest/input.ts).
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
});
