/** Entry of the one thread that writes. */
import { parentPort, workerData } from 'node:worker_threads';
import { Connection } from '../connection.js';
import { serializeError } from '../errors.js';
import { WriteQueue } from '../writes/write-queue.js';
import { TEXT_INDEXES, WriteSession } from '../writes/write-session.js';
import { lowerPriority, NICENESS } from './priority.js';
import { CLOSE, type RpcRequest, type RpcResponse, type WorkerData } from './rpc.js';

/** Milliseconds without writes after which the text indexes are tidied. */
const IDLE_MS = 50;
/** Pages merged at once: about as long as a small write takes. */
const MERGE_PAGES = 64;

const data = workerData as WorkerData;
let opened: { connection: Connection; queue: WriteQueue } | undefined;
let isScheduled = false;
let isClosing = false;
let idle: NodeJS.Timeout | undefined;

function send(message: RpcResponse): void {
  parentPort?.postMessage(message);
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
    idle = setTimeout(mergeSegments, IDLE_MS);
  }
}

/** Merges a little of what bulk loads left in many segments, so that searches stay fast. */
function mergeSegments(): void {
  let isWorkLeft = false;
  try {
    for (const index of Object.keys(TEXT_INDEXES)) isWorkLeft = merge(index) || isWorkLeft;
  } catch {
    // Only an optimization: a full disk will be told to the next writer.
    return;
  }
  if (isWorkLeft) idle = setTimeout(mergeSegments, 0);
}

function merge(index: string): boolean {
  const { connection } = open();
  const changes = () => Number(connection.row<[bigint]>(`SELECT total_changes()`)?.[0]);
  const before = changes();
  connection.run(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ?)`, MERGE_PAGES);
  return changes() - before >= 2;
}

lowerPriority(NICENESS.writer);
parentPort?.on('message', (message: RpcRequest) => {
  clearTimeout(idle);
  if (message.operation === CLOSE) {
    isClosing = true;
  } else {
    try {
      open().queue.add(message);
    } catch (error) {
      send({ call: message.call, error: serializeError(error) });
    }
  }
  schedule();
});
