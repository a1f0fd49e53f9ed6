/**
 * Entry file of the engine process, and the only file that imports `chdb`. It runs the statements that arrive over one socket, and ends
 * with the gateway. A running statement cannot always be interrupted, so the gateway kills this process if a statement does not end.
 */
import { Socket } from 'node:net';
import { drainPending, Session } from 'chdb';
import {
  type EngineFailure,
  type EngineRequest,
  type EngineResponse,
  readFrames,
  sendFrame,
} from './engine-frames.js';

/** File descriptor of the gateway's socket. */
const SOCKET = 3;

const [folder = '', configFile = ''] = process.argv.slice(2);
const socket = new Socket({ fd: SOCKET });
const sessions = new Map<number, Session>();

// Terminals and service managers signal the whole process group, but this process ends only when the gateway says so or has ended.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.title = 'reachline engine';

// Opened first and kept open: this connection boots the engine with our configuration, which later connections share. Without a
// configuration file, the engine would read a config.xml in the working directory. If the engine cannot open the folder, it prints the
// reason.
const first = open();

function open(): Session {
  try {
    return new Session(folder, { connectionArgs: [`--config-file=${configFile}`] });
  } catch {
    process.exit(1);
  }
}

function sessionOf(id: number): Session {
  let session = sessions.get(id);
  if (!session) {
    session = new Session(folder);
    sessions.set(id, session);
  }
  return session;
}

async function answer(request: EngineRequest, bytes: Buffer): Promise<void> {
  if (request.op === 'run' || request.op === 'insert') return respond(request, bytes);
  if (request.op === 'kill') return kill(bytes.toString('utf8'));
  if (request.op === 'end') return end();
  sessions.get(request.session)?.close();
  sessions.delete(request.session);
}

async function respond(request: Extract<EngineRequest, { id: number }>, bytes: Buffer): Promise<void> {
  const { id } = request;
  try {
    const session = sessionOf(request.session);
    // Preparations run on this thread, because each takes microseconds.
    for (const preparation of request.preparations) session.query(preparation, 'Null');
    if (request.op === 'insert') {
      const { table, columns, format } = request;
      const named = columns.length > 0 ? { columns: [...columns] } : {};
      await session.insert({ table, ...named, values: bytes, format });
      return send({ op: 'result', id, rowsRead: 0, bytesRead: 0, elapsed: 0 });
    }
    const result = await session.queryAsync(bytes.toString('utf8'), { format: request.format });
    const { rowsRead, bytesRead, elapsed } = result;
    send({ op: 'result', id, rowsRead, bytesRead, elapsed }, result.bytes());
  } catch (error) {
    send({ op: 'failure', id, error: failureOf(error as EngineFailure) });
  }
}

/**
 * Adds the ClickHouse code to an error: chdb does not find the code in errors of calls on this thread, because it puts two words before
 * their text.
 */
function failureOf({ message, clickhouseCode, code }: EngineFailure): EngineFailure {
  const text = message.replace(/^Query failed: /, '');
  const [, number] = /^Code: (\d+)\./.exec(text) ?? [];
  return { message: text, clickhouseCode: clickhouseCode ?? (number ? Number(number) : undefined), code };
}

/** Kills a statement. Needs no thread of the pool, because long statements may occupy all of these threads. */
function kill(statement: string): void {
  try {
    first.query(statement, 'Null');
  } catch {
    // The statement has already ended.
  }
}

const send = (response: EngineResponse, bytes?: Uint8Array) => sendFrame(socket, response, bytes);

/** Ends the process. The engine releases connections in the background, and the folder is free only after that. */
async function end(): Promise<void> {
  for (const session of sessions.values()) session.close();
  first.close();
  await drainPending();
  process.exit(0);
}

readFrames<EngineRequest>(socket, (request, bytes) => void answer(request, bytes));
socket.on('error', () => {});
// The gateway has ended. Waiting for statements would keep the folder from the next gateway.
socket.on('close', () => process.kill(process.pid, 'SIGKILL'));
send({ op: 'ready' });
