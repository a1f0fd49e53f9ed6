import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ElasticsearchConfig, loadConfig } from '../../../services/shared/config.js';
import { StoreUnavailableError } from '../../../services/shared/store-errors.js';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { freePort } from '../../stack/free-port.js';
import { tempFolder } from '../../support/temp-folder.js';
import { testIndices } from './support.js';

const USER = 'gateway';
const PASSWORD = 'pass: word';
const API_KEY = 'aWQ6c2VjcmV0';

describe('The connection to Elasticsearch', () => {
  let folder: string;
  const indices = testIndices();
  let tlsProxy: Server;
  let address: string;
  let caFile: string;

  before(async () => {
    folder = tempFolder();
    caFile = certificate('ca');
    tlsProxy = await startTlsProxy(readFileSync(caFile), readFileSync(join(folder, 'ca.key')));
    address = `https://127.0.0.1:${(tlsProxy.address() as AddressInfo).port}`;
  });
  after(async () => {
    tlsProxy.closeAllConnections();
    await new Promise((resolve) => tlsProxy.close(resolve));
  });

  /** Creates a self-signed certificate; returns its PEM file. */
  function certificate(name: string): string {
    const file = join(folder, `${name}.pem`);
    const key = join(folder, `${name}.key`);
    const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'];
    const names = ['-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', file], { stdio: 'pipe' });
    return file;
  }

  /** A proxy that adds TLS and authentication to the cluster. */
  async function startTlsProxy(cert: Buffer, key: Buffer): Promise<Server> {
    const basic = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;
    const admitted = new Set([basic, `ApiKey ${API_KEY}`]);
    const [node = ''] = indices.config.nodes;
    const server = createServer({ cert, key }, (incoming, outgoing) => {
      const { authorization, ...headers } = incoming.headers;
      if (!authorization || !admitted.has(authorization)) {
        outgoing.writeHead(401, { 'Content-Type': 'application/json', 'X-Elastic-Product': 'Elasticsearch' });
        outgoing.end(JSON.stringify({ error: { type: 'security_exception', reason: 'no' }, status: 401 }));
        return;
      }
      const { hostname, port } = new URL(node);
      const onward = request({ hostname, port, method: incoming.method, path: incoming.url, headers });
      onward.on('response', (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      });
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  function configOf(environment: Record<string, string>): ElasticsearchConfig {
    const { elasticsearch } = loadConfig({
      ELASTICSEARCH_URL: address,
      ELASTICSEARCH_INDEX_PREFIX: indices.config.indexPrefix,
      ELASTICSEARCH_CA_FILE: caFile,
      ...environment,
    });
    if (!elasticsearch) throw new Error('ELASTICSEARCH_URL is not set');
    return elasticsearch;
  }

  async function connects(environment: Record<string, string>): Promise<void> {
    const store = await openElasticsearchStore(configOf(environment));
    try {
      await store.ping();
      await store.setCredits('org', 7);
      expect(await store.getCredits('org')).to.equal(7);
    } finally {
      await store.close();
    }
  }

  async function isRejected(environment: Record<string, string>): Promise<void> {
    const error = await openElasticsearchStore(configOf(environment)).then(
      (store) => store.close(),
      (failure: unknown) => failure,
    );
    expect(error).to.be.instanceOf(StoreUnavailableError);
  }

  const basic = { ELASTICSEARCH_USERNAME: USER, ELASTICSEARCH_PASSWORD: PASSWORD };

  it('connects over TLS with a user and password', () => connects(basic));

  it('connects over TLS with an API key', () => connects({ ELASTICSEARCH_API_KEY: API_KEY }));

  it('fails with a wrong password', () => isRejected({ ...basic, ELASTICSEARCH_PASSWORD: 'wrong' }));

  it('trusts only the certificate authority of ELASTICSEARCH_CA_FILE', async () => {
    await isRejected({ ...basic, ELASTICSEARCH_CA_FILE: certificate('other') });
    await isRejected({ ...basic, ELASTICSEARCH_CA_FILE: '' });
  });

  it('uses the nodes that are up', async () => {
    const gone = `https://127.0.0.1:${await freePort()}`;
    await connects({ ...basic, ELASTICSEARCH_URL: `${gone},${address}` });
    await connects({ ...basic, ELASTICSEARCH_URL: `${address},${gone}` });
  });
});
