/** Entry of the only thread that writes. */
import { parentPort, workerData } from 'node:worker_threads';
import { Connection } from '../connection.js';
import { completeErasures } from '../erasure/complete.js';
import { serializeError } from '../errors.js';
import { mergeSegments, TEXT_INDEXES, type TextIndex } from '../text/text-index.js';
import { WriteQueue } from '../writes/write-queue.js';
import { WriteSession } from '../writes/write-session.js';
import { runInBackground } from './priority.js';
import { CLOSE, type RpcRequest, type RpcResponse, type WorkerData } from './rpc.js';

/** Time without writes after which segments of the text indexes are merged. */
const IDLE_MS = 50;

/** A backup reads the log for minutes. */
const LOG_RETRY_MS = 10_000;

const data = workerData as WorkerData;
let opened: { connection: Connection; queue: WriteQueue } | undefined;
let isScheduled = false;
let isClosing = false;
let idle: NodeJS.Timeout | undefined;

function send(response: RpcResponse): void {
  parentPort?.postMessage(response);
}

function open(): { connection: Connection; queue: WriteQueue } {
  if (!opened) {
    const connection = new Connection(data.path, { cacheMb: data.cacheMb });
    opened = { connection, queue: new WriteQueue(new WriteSession(connection), send) };
  }
  return opened;
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    work();
  });
}

function work(): void {
  opened?.queue.work();
  if (opened && !opened.queue.isEmpty) {
    schedule();
  } else if (isClosing) {
    opened?.connection.close();
    parentPort?.close();
  } else {
    idle = setTimeout(mergeWhileIdle, IDLE_MS);
  }
}

function mergeWhileIdle(): void {
  let isWorkLeft = false;
  let isLogInUse = false;
  try {
    const { connection } = open();
    isLogInUse = !completeErasures(connection, Date.now());
    for (const index of Object.keys(TEXT_INDEXES) as TextIndex[]) {
      isWorkLeft = mergeSegments(connection, index) || isWorkLeft;
    }
  } catch {
    // Only an optimization: the next write reports a full disk.
    return;
  }
  if (isWorkLeft || isLogInUse) idle = setTimeout(mergeWhileIdle, isWorkLeft ? 0 : LOG_RETRY_MS);
}

runInBackground();
parentPort?.on('message', (request: RpcRequest) => {
  clearTimeout(idle);
  if (request.operation === CLOSE) {
    isClosing = true;
  } else {
    try {
      open().queue.add(request);
    } catch (error) {
      send({ id: request.id, error: serializeError(error) });
    }
  }
  schedule();
});
