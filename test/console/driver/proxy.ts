/** A proxy before a gateway that records each request of the API with its answer, and holds, fails or cuts those that a rule names. */
import {
  createServer,
  request as forward,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a request. A held request continues when the proxy releases it; after a cut, nobody knows whether it was handled. */
export type Fault =
  | 'hold before'
  | 'hold after'
  | 'fail'
  | 'cut before'
  | 'cut after'
  | 'cut half'
  | 'end half';

export interface Exchange {
  /** Counts requests and responses in the order in which they arrived. */
  startedAt: number;
  endedAt: number | undefined;
  key: string;
  path: string;
  body: Record<string, unknown>;
  text: string;
  fault: Fault | undefined;
  /** The response, if it had status 200 and all of it was passed on. */
  answer: Record<string, unknown> | undefined;
}

interface Rule {
  /** The proxy matches the pattern against the path, or against the path and the body. */
  pattern: RegExp;
  fault: Fault;
  times: number;
  /** Number of matching requests that are passed on first. */
  skip: number;
}

const FAILURE = JSON.stringify({ code: 'internal_error', title: 'Internal error', status: 500 });

export class RecordingProxy {
  readonly exchanges: Exchange[] = [];
  /** Requests in progress, except held ones. */
  running = 0;
  held = 0;
  /** Time of the last change, in milliseconds of `performance.now()`. */
  changedAt = 0;
  url = '';
  #target: string;
  #console: RequestListener | undefined;
  #rules: Rule[] = [];
  #releases: (() => void)[] = [];
  #clock = 0;
  #server = createServer((request, response) => void this.#handle(request, response));

  constructor(target: string, console?: RequestListener) {
    this.#target = target;
    this.#console = console;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Applies a fault to the next requests whose path, or path and body, match a pattern; without a number, until `disarm`. */
  arm(pattern: RegExp, fault: Fault, times = Number.POSITIVE_INFINITY, skip = 0): void {
    this.#rules.push({ pattern, fault, times, skip });
  }

  disarm(): void {
    this.#rules = [];
  }

  release(): void {
    for (const release of this.#releases.splice(0)) release();
  }

  close(): Promise<void> {
    this.release();
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #faultOf(path: string, text: string): Fault | undefined {
    const rule = this.#rules.find(
      ({ pattern, times }) => times > 0 && (pattern.test(path) || pattern.test(`${path} ${text}`)),
    );
    if (!rule || rule.skip-- > 0) return undefined;
    rule.times--;
    return rule.fault;
  }

  /** Files of a console in place of those of the gateway. */
  #serve(request: IncomingMessage, response: ServerResponse): void {
    if (this.#console && request.url?.startsWith('/console')) this.#console(request, response);
    else pass(this.#target, request, response);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    const changed = () => {
      this.changedAt = performance.now();
    };
    this.running++;
    changed();
    response.on('close', () => {
      this.running--;
      changed();
    });
    if (!path.startsWith('/api/')) return this.#serve(request, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks);
    const fault = this.#faultOf(path, sent.toString());
    const exchange: Exchange = {
      startedAt: ++this.#clock,
      endedAt: undefined,
      key: String(request.headers['x-api-key'] ?? ''),
      path,
      body: parsed(sent.toString()),
      text: sent.toString(),
      fault,
      answer: undefined,
    };
    this.exchanges.push(exchange);
    let isGone = false;
    let end = () => {};
    const gone = new Promise<void>((resolve) => {
      end = resolve;
    });
    response.on('close', () => {
      isGone = true;
      end();
    });
    const hold = async () => {
      this.held++;
      this.running--;
      changed();
      await Promise.race([gone, new Promise<void>((resolve) => this.#releases.push(resolve))]);
      this.held--;
      this.running++;
      changed();
    };
    if (fault === 'cut before') return void request.socket.destroy();
    if (fault === 'fail')
      return void response.writeHead(500, { 'Content-Type': 'application/problem+json' }).end(FAILURE);
    if (fault === 'hold before') await hold();
    if (isGone) return;
    const answer = await ask(this.#target, request, sent);
    if (fault === 'hold after') await hold();
    if (isGone) return;
    if (fault === 'cut after') return void request.socket.destroy();
    // The proxy sends the response without a length, like an HTTP/1.0 proxy.
    const { 'content-length': _, connection: __, 'transfer-encoding': ___, ...headers } = answer.headers;
    response.writeHead(answer.status, headers);
    if (fault === 'cut half') {
      response.write(halfOf(answer.content), () => setTimeout(() => request.socket.destroy(), 20));
      return;
    }
    exchange.endedAt = ++this.#clock;
    if (answer.status === 200 && fault !== 'end half') exchange.answer = parsed(answer.content.toString());
    response.end(fault === 'end half' ? halfOf(answer.content) : answer.content);
  }
}

/** The first half of a response, in whole lines, such as lines of an export. */
function halfOf(content: Buffer): Buffer {
  const end = content.indexOf('\n', content.length / 2);
  return content.subarray(0, end < 0 ? content.length / 2 : end + 1);
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const optionsOf = ({ method, headers }: IncomingMessage) => ({
  method,
  headers: { ...headers, 'accept-encoding': 'identity' },
});

function ask(target: string, request: IncomingMessage, body: Buffer) {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; content: Buffer }>(
    (resolve, reject) => {
      forward(`${target}${request.url}`, optionsOf(request), (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 500,
            headers: answer.headers,
            content: Buffer.concat(chunks),
          }),
        );
      })
        .on('error', reject)
        .end(body);
    },
  );
}

function pass(target: string, request: IncomingMessage, response: ServerResponse): void {
  const passed = forward(`${target}${request.url}`, optionsOf(request), (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  request.pipe(passed);
}
