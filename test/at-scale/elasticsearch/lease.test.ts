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
import { afterFile } from '../../support/opened.js';
import { type HttpProxy, startHttpProxy } from './http-proxy.js';
import { testIndices } from './support.js';

const DURATION_MS = 1500;

describe('Leases on Elasticsearch', () => {
  const indices = testIndices();
  let proxy: HttpProxy;
  let count = 0;
  const connect = (config: ElasticsearchConfig) => {
    const cluster = new Cluster(config);
    afterFile(() => cluster.close());
    return cluster;
  };

  before(async () => {
    proxy = await startHttpProxy(indices.config);
    await createMissingIndices(connect(indices.config), new IndexNames(indices.config.indexPrefix));
  });
  beforeEach(() => {
    count += 1;
    proxy.decide = () => 'pass';
  });

  /** Acquires the lease of the test as one process; null while another holds it. */
  async function acquire(config: ElasticsearchConfig): Promise<Lease<IdempotencySource> | null> {
    const result = await Lease.acquire<IdempotencySource, null>(
      idempotencyDocuments(connect(config), new IndexNames(config.indexPrefix)),
      `lease_${count}`,
      { durationMs: DURATION_MS, clock: systemClock },
      (_, held) =>
        held
          ? { reject: null }
          : { acquire: { fingerprint: '', contact_id: null, claimed_at: Date.now(), outcome: null } },
    );
    return 'rejected' in result ? null : result.lease;
  }

  it('keeps a lease held beyond its duration by renewing it, and frees it at once on release', async () => {
    const lease = await acquire(proxy.config);
    for (const end = Date.now() + 3 * DURATION_MS; Date.now() < end; ) {
      expect(await acquire(indices.config)).to.equal(null);
    }
    lease?.throwIfLost();
    await lease?.release();
    const next = await acquire(indices.config);
    expect(next).to.not.equal(null);
    await next?.release();
  });

  it('aborts the lost signal of a lease that was not renewed in time, and lets another process acquire it', async () => {
    const lease = await acquire(proxy.config);
    if (!lease) throw new Error('the lease was not free');
    proxy.decide = () => 'cut';
    await once(lease.lost, 'abort');
    expect(lease.lost.reason).to.be.instanceOf(LeaseLostError);
    expect(() => lease.throwIfLost()).to.throw(LeaseLostError);
    proxy.decide = () => 'pass';
    let other = await acquire(indices.config);
    while (!other) other = await acquire(indices.config);
    const failure = await lease.update({ contact_id: 'late' }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(LeaseLostError);
    expect(other.source.contact_id).to.equal(null);
    await other.release();
  });

  it('leaves a lease with the process whose acquire request got no response', async () => {
    let lost = 0;
    proxy.decide = ({ method }) => (method === 'PUT' && lost++ === 0 ? 'cut response' : 'pass');
    const lease = await acquire(proxy.config);
    expect(lost).to.be.greaterThan(1);
    expect(lease).to.not.equal(null);
    expect(await acquire(indices.config)).to.equal(null);
    await lease?.release();
  });
});
