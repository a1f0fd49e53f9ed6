/** Checks the end of an export. On request, the server adds a last line that says how much it wrote. */
import { ConnectionError } from './problems.js';

/** Value of `Accept` that requests the last line of an export. A server that does not support `end=count` responds without that line. */
export const countedType = (type: string): string => `${type}; end=count, ${type}; q=0.5`;

/** The last line in both formats. */
const END = /(?:# |\{"end":")(\d{1,15}) rows, (\d{1,15}) bytes(?:"\})?\r?\n$/;
/** Maximum bytes of the last line. */
const MAX_END = 80;
const TIMEOUT_MS = 120_000;

interface CheckedExport {
  stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  rows: Promise<number | null>;
}

/** The body without its last line. Fails with a ConnectionError if the connection breaks, is silent for `timeoutMs`, or rows are missing. */
export function checkedExport(
  { body, headers }: Response,
  { timeoutMs = TIMEOUT_MS, signal }: { timeoutMs?: number; signal?: AbortSignal },
): CheckedExport {
  const isCounted = /;\s*end=count/.test(headers.get('Content-Type') ?? '');
  const reader = (body ?? new ReadableStream<Uint8Array<ArrayBuffer>>()).getReader();
  let tail: Uint8Array<ArrayBuffer> = new Uint8Array();
  let bytes = 0;
  let resolve: (rows: number | null) => void;
  let reject: (reason: unknown) => void;
  const rows = new Promise<number | null>((...settle) => {
    [resolve, reject] = settle;
  });
  // Callers that only read the stream get the error there.
  rows.catch(() => undefined);
  const broken = (detail: string, cause?: unknown) =>
    new ConnectionError(`The export ended before its end, after ${bytes} bytes. ${detail}`, { cause });

  async function read() {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<never>((_, fail) => {
      timer = setTimeout(() => fail(broken(`Nothing came within ${timeoutMs} ms.`)), timeoutMs);
    });
    try {
      return await Promise.race([reader.read(), silence]);
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof ConnectionError ? error : broken(String(error), error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Checks the last line. */
  function end(): number {
    const found = END.exec(new TextDecoder().decode(tail));
    if (!found) throw broken('The last line, which says how many rows there are, is missing.');
    const [line, count, written] = found;
    const rest = tail.subarray(0, tail.length - line.length);
    bytes += rest.length;
    if (Number(written) !== bytes) throw broken(`The server wrote ${written}.`);
    tail = rest;
    return Number(count);
  }

  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await read();
          if (done) {
            const count = isCounted ? end() : null;
            if (tail.length > 0) controller.enqueue(tail);
            controller.close();
            resolve(count);
            return;
          }
          const chunk = isCounted ? joined(tail, value) : value;
          const held = isCounted ? Math.min(MAX_END, chunk.length) : 0;
          tail = chunk.slice(chunk.length - held);
          const passed = chunk.subarray(0, chunk.length - held);
          bytes += passed.length;
          if (passed.length === 0) continue;
          controller.enqueue(passed);
          return;
        }
      } catch (error) {
        reject(error);
        reader.cancel(error).catch(() => undefined);
        controller.error(error);
      }
    },
    async cancel(reason) {
      reject(reason);
      await reader.cancel(reason);
    },
  });
  return { stream, rows };
}

function joined(first: Uint8Array<ArrayBuffer>, second: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
