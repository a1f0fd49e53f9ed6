/** Writes to ZooKeeper what its users cannot be made to write. */
import { once } from 'node:events';
import { connect } from 'node:net';

const SET_DATA = 5;

const int = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const text = (value: string) => Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);
const frame = (...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([int(body.length), body]);
};

/** Sets the content of an existing node. */
export async function setNode(address: string, path: string, value: string): Promise<void> {
  const [host = '', port] = address.split(':');
  const socket = connect(Number(port), host);
  try {
    // Protocol version, last transaction, timeout, session and password: a new session.
    socket.write(frame(int(0), Buffer.alloc(8), int(10_000), Buffer.alloc(8), int(16), Buffer.alloc(16)));
    await once(socket, 'data');
    socket.write(frame(int(1), int(SET_DATA), text(path), text(value), int(-1)));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    // The error code follows length, request and transaction.
    const failure = answer.readInt32BE(16);
    if (failure !== 0) throw new Error(`ZooKeeper answered ${failure}`);
  } finally {
    socket.destroy();
  }
}
