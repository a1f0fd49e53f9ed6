import { fork } from 'node:child_process';
import { READY, type RpcRequest, type RpcResponse, type WorkerData } from './rpc.js';

/** Maximum heap of a process in MiB: pages are bounded, so a process that needs more has a fault. */
const MAX_HEAP_MB = 256;

export interface ProcessHandlers {
  onReady(): void;
  onResponse(response: RpcResponse): void;
  /** Called once, even if the process could not start. */
  onExit(error: Error): void;
}

/** A child process that serves one request at a time and can be killed at any moment. */
export interface SearchProcess {
  /** Resolves when the process has exited. */
  readonly exited: Promise<void>;
  /** Sends a request. If the process has exited, `onExit` reports the exit. */
  send(request: RpcRequest): void;
  kill(): void;
  /** Lets the process exit once it is idle. */
  disconnect(): void;
}

export function startSearchProcess(
  entry: string,
  data: WorkerData,
  { onReady, onResponse, onExit }: ProcessHandlers,
): SearchProcess {
  const child = fork(entry, [JSON.stringify(data)], {
    execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', (message: RpcResponse | typeof READY) =>
    message === READY ? onReady() : onResponse(message),
  );
  const exited = new Promise<void>((resolve) => {
    let cause: Error | undefined;
    const exit = (how: string) => {
      onExit(new Error(`the search process ended with ${how}`, { cause }));
      resolve();
    };
    child.on('error', (error) => {
      cause = error;
      // A process that could not start emits no 'exit'.
      if (child.pid === undefined) exit('an error');
    });
    child.on('exit', (code, signal) => exit(String(signal ?? code)));
  });
  return {
    exited,
    send: (request) => child.send(request, () => {}),
    kill: () => child.kill('SIGKILL'),
    disconnect: () => {
      if (child.connected) child.disconnect();
    },
  };
}
