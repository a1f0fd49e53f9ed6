/**
 * Hostile clients, as the program of a container that has an address of its own: `node strangers.js <host> <seconds>`. Each connection is
 * opened again when it is closed. Prints how many ended how, as JSON.
 */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const PORT = 8080;
const FLOODS = 200;
const SLOW_HEADERS = 50;
const BODY_BYTES = 16 * 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, '\n');
const ANNOUNCEMENT = `POST /api/ingest/contacts HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nX-Api-Key: rl_live_stranger\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`;

const [host = '', seconds = ''] = process.argv.slice(2);
const deadline = AbortSignal.timeout(Number(seconds) * 1000);
const counts: Record<string, number> = {};
const count = (kind: string) => {
  counts[kind] = (counts[kind] ?? 0) + 1;
};

/** Announces a body and sends as fast as is taken, beyond its answer. */
function flood(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port: PORT, host, signal: deadline });
    let answer = '';
    const fill = () => {
      while (!socket.destroyed && socket.write(CHUNK));
    };
    socket.on('error', () => undefined).on('data', (chunk) => (answer += chunk));
    socket.on('drain', fill).on('close', () => {
      if (!deadline.aborted || answer) count(answer.slice(9, 12) || 'closed without an answer');
      resolve();
    });
    socket.write(ANNOUNCEMENT);
    fill();
  });
}

/** A header each second, and never the empty line. */
function slowHeaders(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port: PORT, host, signal: deadline });
    const timer = setInterval(() => socket.write('X-More: x\r\n'), 1000);
    socket.on('error', () => undefined).resume();
    socket.on('close', () => {
      clearInterval(timer);
      if (!deadline.aborted) count('headers cut off');
      resolve();
    });
    socket.write('POST /api/contacts/search HTTP/1.1\r\nHost: x\r\n');
  });
}

async function repeat(open: () => Promise<void>): Promise<void> {
  while (!deadline.aborted) {
    await open();
    await pause(100);
  }
}

await Promise.all([
  ...Array.from({ length: FLOODS }, () => repeat(flood)),
  ...Array.from({ length: SLOW_HEADERS }, () => repeat(slowHeaders)),
]);
console.log(JSON.stringify(counts));
process.exit(0);
