import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Documents, VersionedDocument } from '../../../services/stores/elasticsearch/documents.js';
import { Lease, LeaseLostError, type LeaseSource } from '../../../services/stores/elasticsearch/lease.js';
import { runs, SEED } from '../../support/random.js';

const DURATION_MS = 9000;

/** One document. The test decides when requests are answered, and so what they find. */
class SlowDocument {
  source: LeaseSource | null = null;
  #seqNo = 0;
  readonly #requests: (() => void)[] = [];
  writes = 0;

  create(id: string, source: LeaseSource) {
    return this.#request(() => (this.source === null ? this.#store(id, source) : null));
  }

  replace({ id, seqNo }: VersionedDocument<LeaseSource>, source: LeaseSource) {
    return this.#request(() => (seqNo === this.#seqNo ? this.#store(id, source) : null));
  }

  get(id: string) {
    return this.#request(() => this.source && this.#version(id, this.source));
  }

  answer(): void {
    this.#requests.shift()?.();
  }

  get isIdle(): boolean {
    return this.#requests.length === 0;
  }

  #request<T>(answer: () => T): Promise<T> {
    return new Promise((resolve) => this.#requests.push(() => resolve(answer())));
  }

  #store(id: string, source: LeaseSource) {
    this.writes++;
    this.source = source;
    this.#seqNo++;
    return this.#version(id, source);
  }

  #version = (id: string, source: LeaseSource) => ({
    id,
    index: 'i',
    source,
    seqNo: this.#seqNo,
    primaryTerm: 1,
  });
}

describe('A lease', () => {
  let now = 0;
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  const advance = (ms: number) => {
    now += ms;
    mock.timers.tick(ms);
  };
  async function acquire(document: SlowDocument) {
    const acquired = Lease.acquire(
      document as unknown as Documents<LeaseSource>,
      'lease',
      { durationMs: DURATION_MS, clock: { now: () => now } },
      (_, held) => (held ? { reject: null } : { acquire: {} }),
    );
    let isDone = false;
    acquired.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await settle(document);
      // Ends the wait of another attempt.
      mock.timers.tick(1000);
    }
    const result = await acquired;
    if ('rejected' in result) throw new Error('the lease is held');
    return result.lease;
  }
  async function settle(document: SlowDocument) {
    do {
      document.answer();
      await turn();
    } while (!document.isIdle);
  }

  it('is renewed until it is released, and never after, however slow each answer is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('tick', 'answer', 'turn', 'update'), { maxLength: 12 }),
        fc.array(fc.constantFrom('tick', 'answer', 'turn', 'update'), { maxLength: 12 }),
        async (before, after) => {
          const document = new SlowDocument();
          const lease = await acquire(document);
          const run = async (step: string) => {
            if (step === 'tick') advance(DURATION_MS / 3);
            else if (step === 'answer') document.answer();
            else if (step === 'turn') await turn();
            else void lease.update({}).catch(() => undefined);
          };
          for (const step of before) await run(step);
          const released = lease.release();
          for (const step of after) await run(step);
          await settle(document);
          await released;
          const { writes } = document;
          for (let times = 0; times < 6; times++) {
            advance(DURATION_MS / 3);
            await settle(document);
          }
          expect(document.writes).to.equal(writes);
          if (!lease.lost.aborted) expect(document.source?.lease_until).to.equal(0);
          else expect(document.source?.lease_until).to.be.at.most(now);
        },
      ),
      { seed: SEED, numRuns: runs(300) },
    );
  });

  it('is free for the next once it is released', async () => {
    const document = new SlowDocument();
    const released = (await acquire(document)).release();
    await settle(document);
    await released;
    expect((await acquire(document)).lost.aborted).to.equal(false);
  });

  it('is held beyond its duration by renewals, and by who got no answer to the write that acquired it', async () => {
    const document = new SlowDocument();
    const create = document.create.bind(document);
    document.create = (id, source) => create(id, source).then(() => null);
    const lease = await acquire(document);
    for (let times = 0; times < 6; times++) {
      advance(DURATION_MS / 3);
      await settle(document);
    }
    expect(lease.lost.aborted).to.equal(false);
    expect(await acquire(document).catch(({ message }) => message)).to.equal('the lease is held');
  });

  it('is lost to who took it over, and changes nothing of theirs', async () => {
    const document = new SlowDocument();
    const lease = await acquire(document);
    const other = { owner: 'another process', lease_until: now + DURATION_MS };
    document.source = null;
    void document.create('lease', other);
    document.answer();
    const update = lease.update({}).catch((error: unknown) => error);
    await settle(document);
    expect(await update).to.be.instanceOf(LeaseLostError);
    expect(document.source).to.equal(other);
  });

  it('cannot be changed once it is released', async () => {
    const document = new SlowDocument();
    const lease = await acquire(document);
    const released = lease.release();
    const update = lease.update({}).catch((error: unknown) => error);
    await settle(document);
    await released;
    expect(await update).to.be.instanceOf(LeaseLostError);
  });

  it('is released although the clock was put forward while it was acquired', async () => {
    const document = new SlowDocument();
    const create = document.create.bind(document);
    document.create = (id, source) => {
      now += 10 * DURATION_MS;
      return create(id, source);
    };
    const lease = await acquire(document);
    mock.timers.tick(1000);
    expect(lease.lost.aborted).to.equal(false);
    const released = lease.release();
    await settle(document);
    await released;
    expect(document.source?.lease_until).to.equal(0);
  });

  it('is lost where no renewal is answered before it expires', async () => {
    const document = new SlowDocument();
    const lease = await acquire(document);
    advance(DURATION_MS / 3);
    advance(DURATION_MS);
    expect(lease.lost.aborted).to.equal(true);
  });
});
