import { expect } from 'chai';
import { startClickHouse } from '../stack/clickhouse.js';
import { startElasticsearch } from '../stack/elasticsearch.js';
import { startKafka } from '../stack/kafka.js';
import type { Server } from '../stack/server.js';
import { MissingPrerequisite } from '../stack/stack-error.js';

describe('a server of the stack', () => {
  let server: Server | undefined;

  afterEach(async () => {
    await server?.remove();
    server = undefined;
  });

  it('is Elasticsearch, and has its documents after kill -9 and a new start on the same port', async function () {
    server = await startElasticsearch({ heapMegabytes: 512 }).catch(orSkip(this));
    const { address } = server;
    const document = `${address}/things/_doc/1`;
    const headers = { 'Content-Type': 'application/json' };
    const written = await fetch(document, { method: 'PUT', headers, body: '{"colour":"red"}' });
    expect(written.status).to.equal(201);

    await server.kill();
    expect(await fetch(address).catch(() => 'no answer')).to.equal('no answer');
    await server.start();

    const read = (await (await fetch(document)).json()) as { _source: unknown };
    expect(read._source).to.deep.equal({ colour: 'red' });
  });

  it('is ClickHouse over HTTP, and has its rows after kill -9 and a new start on the same port', async () => {
    server = await startClickHouse();
    const { address } = server;
    const run = async (query: string) => {
      const response = await fetch(address, { method: 'POST', body: query });
      return { status: response.status, text: await response.text() };
    };
    expect(await run('CREATE TABLE things (id UInt8) ENGINE = MergeTree ORDER BY id')).to.have.property(
      'status',
      200,
    );
    expect(await run('INSERT INTO things VALUES (1), (2)')).to.have.property('status', 200);

    await server.kill();
    expect(await run('SELECT 1').catch(() => 'no answer')).to.equal('no answer');
    await server.start();

    expect(await run('SELECT sum(id) FROM things')).to.deep.equal({ status: 200, text: '3\n' });
  });

  it('is Kafka, and answers again after kill -9 and after a stop', async function () {
    server = await startKafka().catch(orSkip(this));
    const { pid } = server.process;
    await server.kill();
    await server.start();
    expect(server.process.pid).not.to.equal(pid);
    await server.stop();
    await server.start();
  });
});

/** Skips the test where this machine cannot run the server. */
const orSkip = (context: Mocha.Context) => (error: unknown) => {
  if (error instanceof MissingPrerequisite) return context.skip();
  throw error;
};
