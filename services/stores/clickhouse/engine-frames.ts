/** Messages between the gateway and the engine process. A message is a JSON header and bytes, each preceded by its length. */

import type { Duplex } from 'node:stream';
import type { RowFormat } from './rows.js';

/** A statement, rows or a result; the header says which. */
export type Bytes = Uint8Array<ArrayBufferLike>;

interface ForSession {
  id: number;
  session: number;
  /** Statements to run before the statement, such as `SET`. */
  preparations: readonly string[];
}

export type EngineRequest =
  | (ForSession & { op: 'run'; format: string })
  | (ForSession & { op: 'insert'; table: string; columns: readonly string[]; format: RowFormat })
  | { op: 'kill' }
  | { op: 'end' }
  | { op: 'close'; session: number };

export interface EngineFailure {
  message: string;
  /** Error code of ClickHouse. */
  clickhouseCode?: number;
  /** Error code of chdb. */
  code?: string;
}

export type EngineResponse =
  | { op: 'ready' }
  | { op: 'result'; id: number; rowsRead: number; bytesRead: number; elapsed: number }
  | { op: 'failure'; id: number; error: EngineFailure };

const LENGTHS = 8;
const NO_BYTES = new Uint8Array();

export function sendFrame(to: Duplex, header: EngineRequest | EngineResponse, bytes: Bytes = NO_BYTES): void {
  const text = Buffer.from(JSON.stringify(header));
  const start = Buffer.allocUnsafe(LENGTHS + text.length);
  start.writeUInt32LE(text.length, 0);
  start.writeUInt32LE(bytes.length, 4);
  text.copy(start, LENGTHS);
  to.cork();
  to.write(start);
  if (bytes.length > 0) to.write(bytes);
  to.uncork();
}

/** Calls `receive` for every message. `receive` may keep the bytes. */
export function readFrames<Header>(from: Duplex, receive: (header: Header, bytes: Buffer) => void): void {
  let start: Buffer = Buffer.alloc(0);
  /** The message whose bytes are arriving. The bytes are copied into one buffer at once, because a result may have 200 MB. */
  let filling: { header: Header; bytes: Buffer; length: number } | undefined;

  /** Takes the bytes of the current message from the chunk; returns the rest. */
  function take(chunk: Buffer): Buffer {
    if (!filling) {
      start = start.length === 0 ? chunk : Buffer.concat([start, chunk]);
      if (start.length < LENGTHS) return start.subarray(start.length);
      const end = LENGTHS + start.readUInt32LE(0);
      if (start.length < end) return start.subarray(start.length);
      const header = JSON.parse(start.toString('utf8', LENGTHS, end)) as Header;
      filling = { header, bytes: Buffer.allocUnsafe(start.readUInt32LE(4)), length: 0 };
      chunk = start.subarray(end);
      start = Buffer.alloc(0);
    }
    const taken = chunk.copy(filling.bytes, filling.length);
    filling.length += taken;
    if (filling.length === filling.bytes.length) {
      const { header, bytes } = filling;
      filling = undefined;
      receive(header, bytes);
    }
    return chunk.subarray(taken);
  }

  from.on('data', (chunk: Buffer) => {
    let rest = take(chunk);
    while (rest.length > 0) rest = take(rest);
  });
}
