import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { loadConfig } from '../../../services/shared/config.js';
import { StoreUnavailableError } from '../../../services/shared/store-errors.js';
import { Cluster } from '../../../services/stores/elasticsearch/client.js';
import { until } from '../../support/until.js';

const READ = { index: 'contacts', id: 'a' };
const WRITE = { index: 'contacts', id: 'a', document: {} };

type Handler = (request: IncomingMessage, respond: (status: number, body: object) => void) => void;

/** A node of a cluster. Requests that it does not handle hang. */
async function startNode(handle: Handler): Promise<Server> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    handle(request, (status, body) => {
      response.writeHead(status, {
        'Content-Type': 'application/json',
        'X-Elastic-Product': 'Elasticsearch',
      });
      response.end(JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const isCheck = ({ url = '' }: IncomingMessage) => /^\/_(nodes|cluster)\//.test(url);
/** Response of a node to both requests: its state, and the nodes that it reaches. */
const nodesSeen = (failed: number, ...ids: string[]) => ({
  version: 1,
  _nodes: { failed },
  nodes: Object.fromEntries(ids.map((id) => [id, { name: id }])),
});

describe('A cluster of which a node hangs', function () {
  this.timeout(20_000);
  let servers: Server[];
  let cluster: Cluster;

  async function start(...handlers: Handler[]): Promise<void> {
    servers = await Promise.all(handlers.map(startNode));
    const addresses = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const { elasticsearch } = loadConfig({ ELASTICSEARCH_URL: addresses.join(',') });
    if (!elasticsearch) throw new Error('there is no cluster');
    cluster = new Cluster(elasticsearch);
  }
  const read = () => cluster.run((client) => client.get(READ));
  const write = () => cluster.run((client) => client.index(WRITE)).catch((error: unknown) => error);

  afterEach(async () => {
    await cluster.close();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  it('is read from the others, which are preferred from then on', async () => {
    const preferences: (string | null)[] = [];
    let met = 0;
    const answer: Handler = (request, respond) => {
      if (isCheck(request)) return respond(200, nodesSeen(1, 'b', 'c'));
      preferences.push(new URL(request.url ?? '', 'http://node').searchParams.get('preference'));
      return respond(200, { found: true, _id: 'a' });
    };
    await start((request) => void (isCheck(request) || met++), answer, answer);
    for (let count = 0; count < 3; count++) expect(await read()).to.include({ found: true });
    expect(met, 'the node that hangs is asked once').to.equal(1);
    expect(preferences.at(-1)).to.equal('_prefer_nodes:b,c');
  });

  it('is not read from one that hung and answers again, until it has caught up', async () => {
    let version = 1;
    let hangs = true;
    let isBehind = true;
    let met = 0;
    /** Checks of the new version, and checks that the node answered while it was behind. */
    let [newChecks, oldChecks] = [0, 0];
    const other: Handler = (request, respond) => {
      if (isCheck(request) && version === 2) newChecks++;
      respond(200, isCheck(request) ? { ...nodesSeen(0, 'b', 'c'), version } : { found: true, _id: 'a' });
    };
    const thawed: Handler = (request, respond) => {
      if (hangs) return;
      if (!isCheck(request)) met++;
      else if (isBehind) oldChecks++;
      const own = { ...nodesSeen(0, 'a', 'b', 'c'), version: 1 };
      respond(
        200,
        isCheck(request) ? (isBehind ? own : { ...own, version }) : { found: !isBehind, _id: 'a' },
      );
    };
    await start(thawed, other, other);
    for (let count = 0; count < 3; count++) await read();
    // The master removes the node.
    version = 2;
    // One check sends two requests to each of the two other nodes, so with more than four the next check has begun.
    await until(() => newChecks > 4, 'a check has seen it');
    hangs = false;
    await until(async () => (await read()) !== undefined && oldChecks > 4, 'it was checked again');
    expect(met, 'while it is behind').to.equal(0);
    isBehind = false;
    await until(async () => (await read()) !== undefined && met > 0, 'it is read again');
  });

  it('ends a write that hangs as unavailable', async () => {
    await start(
      () => undefined,
      (request, respond) => void (isCheck(request) && respond(200, nodesSeen(1, 'b'))),
    );
    expect(await write()).to.be.instanceOf(StoreUnavailableError);
  });

  it('ends a read as unavailable where every copy hangs, sent to one more node', async () => {
    let met = 0;
    const lonely: Handler = (request, respond) =>
      void (isCheck(request) ? respond(200, nodesSeen(2, 'c')) : met++);
    await start(() => undefined, lonely);
    expect(await read().catch((error: unknown) => error)).to.be.instanceOf(StoreUnavailableError);
    expect(met).to.be.within(1, 2);
  });

  it('ends work of several requests as unavailable, however soon each of them ends', async () => {
    await start(
      () => undefined,
      (request, respond) => {
        if (isCheck(request)) respond(200, nodesSeen(1, 'b'));
        else setTimeout(() => respond(200, { found: true, _id: 'a' }), 500);
      },
    );
    let isLate = false;
    const requests = async () => {
      while (!isLate) await read();
    };
    const outcome = await cluster.failIfNodeHangs(requests()).catch((error: unknown) => error);
    isLate = true;
    expect(outcome).to.be.instanceOf(StoreUnavailableError);
  });

  it('waits for a slow answer while every node answers', async () => {
    await start((request, respond) => {
      if (isCheck(request)) respond(200, nodesSeen(0, 'a'));
      else setTimeout(() => respond(200, { result: 'updated', _id: 'a' }), 3500);
    });
    expect(await write()).to.include({ result: 'updated' });
  });

  it('repeats a write where a connection fails', async () => {
    const answer: Handler = (_, respond) => respond(200, { result: 'created' });
    await start((request) => void request.socket.destroy(), answer);
    expect(await write()).to.include({ result: 'created' });
    expect(await write()).to.include({ result: 'created' });
  });

  it('counts writes as searchable once every copy is refreshed', async () => {
    const failed = [1, 0];
    await start((_, respond) =>
      respond(200, { _shards: { total: 2, successful: 1, failed: failed.shift() ?? 1 } }),
    );
    await cluster.refresh('contacts');
    expect(failed).to.deep.equal([]);
    expect(await cluster.refresh('contacts').catch((error: unknown) => error)).to.be.instanceOf(
      StoreUnavailableError,
    );
  });

  it('does not repeat a write that the cluster refused', async () => {
    let refused = 0;
    const refuse: Handler = (_, respond) => {
      refused++;
      respond(503, { error: { type: 'unavailable_shards_exception' } });
    };
    await start(refuse, refuse);
    expect(await write()).to.be.instanceOf(StoreUnavailableError);
    expect(refused).to.equal(1);
  });
});
