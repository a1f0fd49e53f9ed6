import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { Publisher } from '../../ingest/publisher.js';
import { STREAMS } from '../../ingest/streams/index.js';
import type { IngestStores } from '../../ingest/streams/stream.js';
import { loadConfig } from '../../services/shared/config.js';
import { createLogger } from '../../services/shared/logger.js';
import { OverloadedError, StoreUnavailableError } from '../../services/shared/store-errors.js';
import { accepted } from '../support/accepted.js';

const NO_STORES = {} as IngestStores;

/** A broker that accepts connections and never responds. */
async function silentBroker(): Promise<{ address: string; close(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

describe('The publisher', function () {
  this.timeout(30_000);
  let broker: Awaited<ReturnType<typeof silentBroker>>;
  let publisher: Publisher;

  beforeEach(async () => {
    broker = await silentBroker();
    const { kafka } = loadConfig({ KAFKA_BROKERS: broker.address });
    if (!kafka) throw new Error('there is no broker');
    publisher = new Publisher(kafka, createLogger('silent'), { maxQueuedBytes: 10_000 });
  });
  afterEach(async () => {
    broker.close();
    await publisher.close();
  });

  const write = (id: string, signal?: AbortSignal) =>
    publisher
      .toKafka(STREAMS.contacts, signal)
      .write(NO_STORES, accepted([{ organization_id: 'org_a', contact_id: id, city: 'x'.repeat(3000) }], 0))
      .then(
        () => 'written',
        (error: unknown) => error,
      );

  it('rejects more than its queue may hold while a broker does not answer, and accepts more after that has failed', async () => {
    const held = ['a', 'b', 'c'].map((id) => write(id));
    expect(publisher.queuedBytes).to.be.within(9000, 10_000);
    expect(await write('d')).to.be.instanceOf(OverloadedError);
    expect(publisher.queuedBytes).to.be.within(9000, 10_000);
    broker.close();
    for (const outcome of await Promise.all(held)) expect(outcome).to.be.instanceOf(StoreUnavailableError);
    expect(publisher.queuedBytes).to.equal(0);
    expect(await write('e')).to.be.instanceOf(StoreUnavailableError);
  });

  it('accepts a record larger than its queue when nothing else waits', async () => {
    const { write: writeAll } = publisher.toKafka(STREAMS.contacts);
    const large = { organization_id: 'org_a', contact_id: 'a', city: 'x'.repeat(20_000) };
    const outcome = writeAll(NO_STORES, accepted([large], 0)).catch((error: unknown) => error);
    expect(publisher.queuedBytes).to.be.greaterThan(20_000);
    broker.close();
    expect(await outcome).to.be.instanceOf(StoreUnavailableError);
  });

  it('drops the waiting records of a client that disconnects', async () => {
    const sending = write('a');
    const client = new AbortController();
    const waiting = write('b', client.signal);
    const before = publisher.queuedBytes;
    const reason = new Error('the client has left');
    client.abort(reason);
    expect(await waiting).to.equal(reason);
    expect(publisher.queuedBytes).to.be.lessThan(before);
    expect(await write('c', client.signal), 'and what comes later').to.equal(reason);
    broker.close();
    expect(await sending).to.be.instanceOf(StoreUnavailableError);
    expect(publisher.queuedBytes).to.equal(0);
  });
});
