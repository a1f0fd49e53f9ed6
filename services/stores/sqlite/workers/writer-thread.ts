/** Entry of the only thread that writes. */
import { parentPort, workerData } from 'node:worker_threads';
import { Connection } from '../connection.js';
import { completeErasures } from '../erasure/complete.js';
import { mergeSegments, TEXT_INDEXES, type TextIndex } from '../text/text-index.js';
import { WriteQueue } from '../writes/write-queue.js';
import { WriteSession } from '../writes/write-session.js';
import { runInBackground } from './priority.js';
import { CLOSE, type RpcRequest, type WorkerData } from './rpc.js';

/** Time without writes after which segments of the text indexes are merged. */
const IDLE_MS = 50;

/** A backup reads the log for minutes. */
const LOG_RETRY_MS = 10_000;

const { path, cacheMb } = workerData as WorkerData;
const connection = new Connection(path, { cacheMb });
const queue = new WriteQueue(new WriteSession(connection), (response) => parentPort?.postMessage(response));
let isScheduled = false;
let isClosing = false;
let idle: NodeJS.Timeout | undefined;

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    work();
  });
}

function work(): void {
  queue.work();
  if (!queue.isEmpty) schedule();
  else if (!isClosing) idle = setTimeout(mergeWhileIdle, IDLE_MS);
  else {
    connection.close();
    parentPort?.close();
  }
}

function mergeWhileIdle(): void {
  let isWorkLeft = false;
  let isLogInUse = false;
  try {
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
  if (request.operation === CLOSE) isClosing = true;
  else queue.add(request);
  schedule();
});
