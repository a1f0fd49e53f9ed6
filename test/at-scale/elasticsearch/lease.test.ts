import { once } from 'node:events';
import { expect } from 'chai';
import type { ElasticsearchConfig } from '../../../services/shared/config.js';
import { systemClock } from '../../../services/shared/time.js';
import { Cluster } from '../../../services/stores/elasticsearch/client.js';
import {
  type IdempotencySource,
  idempotencyDocuments,
} from '../../../services/stores/elasticsearch/idempotency.js';
import { Lease, LeaseLostError } from '../../../services/stores/elasticsearch/lease.js';
import {
  createMissingIndices,
  IndexNames,
} from '../../../services/stores/elasticsearch/migrations/indices.js';
import { type HttpProxy, startHttpProxy } from './http-proxy.js';
import { type TestIndices, testIndices } from './support.js';

const DURATION_MS = 1500;

describe('Leases on Elasticsearch', () => {
  let indices: TestIndices;
  let proxy: HttpProxy;
  const clusters: Cluster[] = [];
  let made = 0;

  before(async () => {
    indices = testIndices();
    proxy = await startHttpProxy(indices.config);
    const cluster = new Cluster(indices.config);
    clusters.push(cluster);
    await createMissingIndices(cluster, new IndexNames(indices.config.indexPrefix));
  });
  beforeEach(() => {
    made += 1;
    proxy.decide = () => 'pass';
  });
  after(async () => {
    await Promise.all(clusters.map((cluster) => cluster.close()));
    await proxy.close();
    await indices.remove();
  });

  /** The lease of the test, as one process takes it; null while another has it. */
  async function take(config: ElasticsearchConfig): Promise<Lease<IdempotencySource> | null> {
    const cluster = new Cluster(config);
    clusters.push(cluster);
    const acquired = await Lease.acquire<IdempotencySource, null>(
      idempotencyDocuments(cluster, new IndexNames(config.indexPrefix)),
      `lease_${made}`,
      { durationMs: DURATION_MS, clock: systemClock },
      (_, isHeld) =>
        isHeld
          ? { refuse: null }
          : { take: { fingerprint: '', contact_id: null, claimed_at: Date.now(), outcome: null } },
    );
    return 'refused' in acquired ? null : acquired.lease;
  }

  it('stay held for longer than their duration, and go to the next at once when released', async () => {
    const lease = await take(proxy.config);
    for (const end = Date.now() + 3 * DURATION_MS; Date.now() < end; ) {
      expect(await take(indices.config)).to.equal(null);
    }
    lease?.throwIfLost();
    await lease?.release();
    const next = await take(indices.config);
    expect(next).to.not.equal(null);
    await next?.release();
  });

  it('tell their holder when they could not be renewed in time, and go to another', async () => {
    const lease = await take(proxy.config);
    if (!lease) throw new Error('the lease was not free');
    proxy.decide = () => 'cut';
    await once(lease.lost, 'abort');
    expect(lease.lost.reason).to.be.instanceOf(LeaseLostError);
    expect(() => lease.throwIfLost()).to.throw(LeaseLostError);
    proxy.decide = () => 'pass';
    let other = await take(indices.config);
    while (!other) other = await take(indices.config);
    const failure = await lease.update({ contact_id: 'late' }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(LeaseLostError);
    expect(other.source.contact_id).to.equal(null);
    await other.release();
  });

  it('are held by the process whose acquisition was not answered', async () => {
    let lost = 0;
    proxy.decide = ({ method }) => (method === 'PUT' && lost++ === 0 ? 'cut answer' : 'pass');
    const lease = await take(proxy.config);
    expect(lost).to.be.greaterThan(1);
    expect(lease).to.not.equal(null);
    expect(await take(indices.config)).to.equal(null);
    await lease?.release();
  });
});
