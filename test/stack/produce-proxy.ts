import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** API key of a Produce request. */
const PRODUCE = 0;
/** A frame begins with its size, which does not count these bytes. */
const SIZE_BYTES = 4;

/** An address of a broker through which responses to Produce can get lost: the broker has appended, and the client does not learn it. */
export interface ProduceProxy {
  /** `host:port` */
  address: string;
  /** Closes the connection when the broker responds, for each of the next `count` Produce requests. */
  loseAnswers(count: number): void;
  /** Responses lost so far. */
  lost(): number;
  close(): Promise<void>;
}

export async function startProduceProxy(upstream: string): Promise<ProduceProxy> {
  const [host, port] = upstream.split(':') as [string, string];
  const sockets = new Set<Socket>();
  let toLose = 0;
  let lost = 0;
  const server = createServer((client) => {
    const broker = connect(Number(port), host);
    const produced = new Set<number>();
    const end = () => {
      client.destroy();
      broker.destroy();
    };
    for (const socket of [client, broker]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    const requests = frames((frame) => {
      if (frame.readInt16BE(SIZE_BYTES) === PRODUCE) produced.add(frame.readInt32BE(SIZE_BYTES + 4));
      broker.write(frame);
    });
    const answers = frames((frame) => {
      if (produced.delete(frame.readInt32BE(SIZE_BYTES)) && toLose > 0) {
        toLose--;
        lost++;
        end();
      } else client.write(frame);
    });
    client.on('data', requests);
    broker.on('data', answers);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswers(count) {
      toLose = count;
    },
    lost: () => lost,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Cuts a stream of bytes into frames. */
function frames(onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let waiting: Buffer = Buffer.alloc(0);
  return (chunk) => {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    while (waiting.length >= SIZE_BYTES) {
      const end = SIZE_BYTES + waiting.readInt32BE(0);
      if (waiting.length < end) return;
      onFrame(waiting.subarray(0, end));
      waiting = waiting.subarray(end);
    }
  };
}
