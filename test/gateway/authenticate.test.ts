import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import type { KeyStore, StoredKey } from '../../services/accounts/key-store.js';
import { issueKey, parseKey } from '../../services/accounts/keys.js';
import { type Authenticate, createAuthenticate } from '../../services/gateway/authenticate.js';
import { WrongKeyLimiter } from '../../services/gateway/rate-limit.js';
import { Problem } from '../../services/http/problems.js';
import { systemClock } from '../../services/shared/time.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** The keys of a store, whose lookups are counted and can be held up. */
class WatchedKeys implements Pick<KeyStore, 'findKey' | 'recordKeyUse'> {
  readonly #store: KeyStore;
  lookups = 0;
  waiting = 0;
  uses = 0;
  held: Promise<void> | undefined;

  constructor(store: KeyStore) {
    this.#store = store;
  }

  recordKeyUse(id: string, usedAt: string): Promise<void> {
    this.uses++;
    return this.#store.recordKeyUse(id, usedAt);
  }

  async findKey(id: string, signal?: AbortSignal): Promise<StoredKey | null> {
    this.lookups++;
    this.waiting++;
    try {
      await Promise.race([
        this.held,
        this.held &&
          new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      ]);
      return await this.#store.findKey(id);
    } finally {
      this.waiting--;
    }
  }
}

/** A well-formed key with the id of another key and a wrong secret. */
function withOtherSecret(key: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const start = key.slice(0, 'rl_live_'.length + 9) + 'a'.repeat(32);
  let rest = crc32(start);
  let checksum = '';
  for (let place = 0; place < 6; place++, rest = Math.floor(rest / 62)) checksum += digits[rest % 62];
  return start + checksum;
}

describe('Authentication', () => {
  let folder: string;
  let stores: Stores;
  let keys: WatchedKeys;
  let authenticate: Authenticate;
  let key: string;
  /** Well-formed keys that no store has. */
  const wrong: string[] = [];

  before(async () => {
    folder = tempFolder();
    stores = await openStores({ dataDir: folder, searchProcesses: 1 });
    const forgotten = { insertKey: async () => undefined } as unknown as KeyStore;
    for (let index = 0; index < 11_000; index++) {
      wrong.push(await issueKey(forgotten, { organizationId: 'org_a' }));
    }
  });
  beforeEach(async () => {
    keys = new WatchedKeys(stores.records);
    // No token is refilled while 1 000 wrong keys are tried.
    authenticate = createAuthenticate(keys, systemClock, new WrongKeyLimiter(() => 0));
    key = await issueKey(stores.records, { organizationId: 'org_a' });
  });
  after(async () => {
    await stores.close();
  });

  const call = async (header: string, address = '192.0.2.1') => authenticate(header, address);
  /** The code that a key is rejected with, or the key's organization. */
  const outcome = (header: string, address?: string) =>
    call(header, address).then(
      ({ organizationId }) => organizationId,
      (error: unknown) => (error instanceof Problem ? error.code : String(error)),
    );
  /** Waits until the cached state of the key has expired. */
  async function untilLookedUpAgain(): Promise<void> {
    const before = keys.lookups;
    await until(() => {
      void call(key).catch(() => undefined);
      return keys.lookups > before;
    }, 'the key is looked up again');
  }

  it('looks up a key once for concurrent requests', async () => {
    const outcomes = await Promise.all(Array.from({ length: 500 }, () => outcome(key)));
    expect(new Set(outcomes)).to.deep.equal(new Set(['org_a']));
    expect(keys.lookups).to.equal(1);
  });

  it('keeps at most one lookup of a key pending while the store hangs, and accepts the cached key', async function () {
    this.timeout(20_000);
    await call(key);
    keys.held = new Promise(() => undefined);
    await untilLookedUpAgain();
    const outcomes = await Promise.all(Array.from({ length: 500 }, () => outcome(key)));
    expect(new Set(outcomes)).to.deep.equal(new Set(['org_a']));
    expect(keys.lookups).to.equal(2);
    expect(keys.waiting).to.equal(0);
  });

  it('accepts a cached key during an outage even after thousands of wrong keys', async function () {
    this.timeout(20_000);
    await call(key);
    for (let index = 0; index < wrong.length; index++) {
      const address = `198.51.${index >> 8}.${index & 255}`;
      expect(await outcome(wrong[index] as string, address)).to.equal('invalid_api_key');
    }
    keys.held = Promise.resolve();
    const { lookups } = keys;
    await stores.records.close();
    expect(await outcome(key)).to.equal('org_a');
    await untilLookedUpAgain();
    expect(keys.lookups).to.be.above(lookups);
    expect(await outcome(key)).to.equal('org_a');
    await stores.close();
    stores = await openStores({ dataDir: folder, searchProcesses: 1 });
  });

  it('rate-limits wrong keys per address with Retry-After', async () => {
    await call(key, '2001:db8:0:1::1');
    const before = keys.lookups;
    const codes = [];
    for (let index = 0; index < 1000; index++) {
      codes.push(await outcome(wrong[index] as string, `2001:db8:0:1::${index.toString(16)}`));
    }
    expect(codes[0]).to.equal('invalid_api_key');
    expect(codes.at(-1)).to.equal('rate_limited');
    expect(codes.filter((code) => code === 'invalid_api_key')).to.have.length(300);
    expect(keys.lookups - before).to.equal(1000);
    const rejected = await call(wrong[1000] as string, '2001:db8:0:1::1').catch((error: Problem) => error);
    expect((rejected as Problem).headers['Retry-After']).to.equal('1');
    expect(await outcome(key, '2001:db8:0:1::1'), 'a key known to be good').to.equal('org_a');
    expect(await outcome(wrong[2000] as string, '2001:db8:0:2::1')).to.equal('invalid_api_key');
  });

  it('accepts a key that it has never seen from an address that sent too many wrong ones', async () => {
    for (const each of wrong.slice(0, 400)) await outcome(each);
    expect(await outcome(wrong[400] as string)).to.equal('rate_limited');
    expect(await outcome(key)).to.equal('org_a');
  });

  it('answers wrong keys of ids that exist and of ids that do not alike, however many are sent', async () => {
    await call(key);
    const unseen = await issueKey(stores.records, { organizationId: 'org_a' });
    const tries = async (address: string, header: string) => {
      const codes: string[] = [];
      for (let index = 0; index < 310; index++) codes.push(await outcome(header, address));
      return codes;
    };
    const unknown = await tries('192.0.2.2', wrong[0] as string);
    expect(unknown.filter((code) => code === 'invalid_api_key')).to.have.length(300);
    expect(await tries('192.0.2.3', withOtherSecret(key)), 'of a key in use').to.deep.equal(unknown);
    expect(await tries('192.0.2.4', withOtherSecret(unseen)), 'of a key that is not').to.deep.equal(unknown);
    const revoked = await issueKey(stores.records, { organizationId: 'org_a' });
    await stores.records.revokeKey(parseKey(revoked)?.id as string, new Date().toISOString());
    expect(await tries('192.0.2.5', revoked), 'of a key that was revoked').to.deep.equal(unknown);
  });

  it('lets addresses that sent too many wrong keys take turns with few lookups', async () => {
    const [guessing, busy] = ['192.0.2.6', '192.0.2.7'];
    for (const each of wrong.slice(0, 301)) await outcome(each, guessing);
    let release = () => {};
    keys.held = new Promise((resolve) => {
      release = resolve;
    });
    const guesses = wrong.slice(301, 450).map((each) => outcome(each, guessing));
    await new Promise(setImmediate);
    expect(keys.waiting).to.equal(4);
    const other = outcome(key, busy);
    await new Promise(setImmediate);
    expect(keys.waiting).to.equal(5);
    keys.held = undefined;
    release();
    expect(await other).to.equal('org_a');
    const codes = await Promise.all(guesses);
    expect(codes.filter((code) => code === 'rate_limited')).to.have.length(104);
    expect(codes.filter((code) => code === 'overloaded')).to.have.length(45);
  });

  it('does not rate-limit valid keys', async () => {
    for (let index = 0; index < 400; index++) {
      const good = await issueKey(stores.records, { organizationId: 'org_b' });
      expect(await outcome(good)).to.equal('org_b');
    }
  });

  it('records the use of a key once per hour, and no use by a wrong secret', async () => {
    let now = Date.now();
    const clock = { now: () => now };
    const id = parseKey(key)?.id as string;
    const expectLastUse = async (expected: number | null) => {
      const recorded = expected === null ? null : new Date(expected).toISOString();
      await until(
        async () => (await stores.records.findKey(id))?.last_used_at === recorded,
        `the last use is ${recorded}`,
      );
    };
    authenticate = createAuthenticate(keys, clock);
    const first = now;
    for (let index = 0; index < 100; index++) await call(key);
    expect(keys.uses).to.equal(1);
    await expectLastUse(first);
    now += 3_599_000;
    await createAuthenticate(keys, clock)(key, '192.0.2.1');
    expect(keys.uses, 'by another process').to.equal(1);
    now += 1000;
    await call(key);
    expect(keys.uses).to.equal(2);
    await expectLastUse(now);
    const unused = await issueKey(stores.records, { organizationId: 'org_a' });
    const stolenId = parseKey(unused)?.id as string;
    expect(parseKey(withOtherSecret(unused))?.id).to.equal(stolenId);
    expect(await outcome(withOtherSecret(unused))).to.equal('invalid_api_key');
    expect((await stores.records.findKey(stolenId))?.last_used_at).to.equal(null);
  });

  it('rejects a revoked key after the cache has expired', async function () {
    this.timeout(10_000);
    expect(await outcome(key)).to.equal('org_a');
    await stores.records.revokeKey(parseKey(key)?.id as string, new Date().toISOString());
    await untilLookedUpAgain();
    expect(await outcome(key)).to.equal('invalid_api_key');
  });
});
