import { fork } from 'node:child_process';
import { lowerPriority } from './priority.js';
import { READY, type RpcRequest, type RpcResponse, type WorkerData } from './rpc.js';

/** Pages are bounded, so a process that needs more than this, in MiB, has a fault. */
const MAX_HEAP_MB = 256;

export interface ProcessHandlers {
  onReady(): void;
  onResponse(response: RpcResponse): void;
  /** Called once, also when the process could not start. */
  onExit(error: Error): void;
}

/** A child process that serves one request at a time and can be killed whatever it is doing. */
export class ProcessClient {
  /** Resolves when the process has exited. */
  readonly exited: Promise<void>;
  isReady = false;
  readonly #child: ReturnType<typeof fork>;

  constructor(entry: string, data: WorkerData, { onReady, onResponse, onExit }: ProcessHandlers) {
    const child = fork(entry, [JSON.stringify(data)], {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    child.on('message', (message: RpcResponse | typeof READY) => {
      if (message !== READY) return onResponse(message);
      this.isReady = true;
      onReady();
    });
    this.exited = new Promise((resolve) => {
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
  }

  /** A process that has exited meanwhile reports it by `onExit`. */
  send(request: RpcRequest): void {
    this.#child.send(request, () => {});
  }

  lowerPriority(niceness: number): void {
    if (this.#child.pid !== undefined) lowerPriority(niceness, this.#child.pid);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Lets the process exit once it is idle. */
  disconnect(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
