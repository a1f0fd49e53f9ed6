import type { Readable, Writable } from 'node:stream';

/** What a command may touch of the process it runs in. */
export interface Io {
  stdin: Readable;
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  env: NodeJS.ProcessEnv;
}

/** Writes a line to standard output: the answer of a command. */
export const say = (io: Io, line: string) => void io.stdout.write(`${line}\n`);

/** Writes a line to standard error: what a person may want to know beside the answer. */
export const tell = (io: Io, line: string) => void io.stderr.write(`${line}\n`);

/** `12 345` */
export const grouped = (count: number) => String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ' ');
