/** Entry file of the writer thread, the only thread that writes. */
import { parentPort, workerData } from 'node:worker_threads';
import { Connection } from '../connection.js';
import { type CompletionState, ErasureCompletion } from '../erasure/complete.js';
import { mergeSegments, TEXT_INDEXES, type TextIndex } from '../text/text-index.js';
import { WriteQueue } from '../writes/write-queue.js';
import { WriteSession } from '../writes/write-session.js';
import { runInBackground } from './priority.js';
import { CLOSE, type RpcRequest, type WriterData } from './rpc.js';

/** Milliseconds without writes after which segments of the text indexes are merged. */
const IDLE_MS = 50;

/** Pause before a retry if a reader needs the log (a backup needs it for minutes) or if something failed. */
const RETRY_MS = 1000;

const { path, cacheMb, keepsMarks } = workerData as WriterData;
const connection = new Connection(path, { cacheMb });
const session = new WriteSession(connection, { keepsMarks });
const queue = new WriteQueue(session, (response) => parentPort?.postMessage(response));
const erasures = new ErasureCompletion(connection, session.deletedMarks);
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

/** A step of erasures follows every transaction, so that erasures end however much there is to write. */
function work(): void {
  queue.work();
  const state = completeErasures();
  if (!queue.isEmpty || (state === 'more' && !isClosing)) schedule();
  else if (!isClosing) idle = setTimeout(mergeWhileIdle, IDLE_MS);
  else {
    connection.close();
    parentPort?.close();
  }
}

/** A full disk delays erasures; the next write reports the full disk. */
function completeErasures(): CompletionState | 'failed' {
  try {
    return erasures.step(Date.now(), performance.now());
  } catch {
    return 'failed';
  }
}

function mergeWhileIdle(): void {
  const state = completeErasures();
  let isWorkLeft = state === 'more';
  let hasFailed = state === 'failed';
  try {
    for (const index of Object.keys(TEXT_INDEXES) as TextIndex[]) {
      isWorkLeft = mergeSegments(connection, index) || isWorkLeft;
    }
  } catch {
    hasFailed = true;
  }
  if (isWorkLeft && !hasFailed) idle = setTimeout(mergeWhileIdle, 0);
  else if (hasFailed || state === 'waiting') idle = setTimeout(mergeWhileIdle, RETRY_MS);
}

runInBackground();
parentPort?.on('message', (request: RpcRequest) => {
  clearTimeout(idle);
  if (request.operation === CLOSE) isClosing = true;
  else queue.add(request);
  schedule();
});
