import { expect } from 'chai';
import { StoreTimeoutError, StoreUnavailableError } from '../../../services/shared/store-errors.js';
import type { ClickHouseServer, InsertOptions } from '../../../services/stores/clickhouse/client.js';
import { replicas } from '../../../services/stores/clickhouse/replicas.js';
import { rawSql } from '../../support/raw-sql.js';

const unavailable = (code: string) => new StoreUnavailableError('analytics', { cause: { code } });
const LAYOUT = { tables: 't', views: 'v', copies: 'c', isReplicated: true };
const NOT_IN_QUORUM = '289';
const QUORUM_BEFORE = '286';
const rows = (table = 'campaigns') => ({ table, columns: ['id'], text: 'x\n' });
const query = { name: 'test', sql: rawSql('SELECT 1'), params: {} };
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: Error) => error,
  );

/** A server that treats the next statements as queued, and later ones as usual. */
class FakeServer {
  readonly calls: { kind: string; token?: string }[] = [];
  readonly next: (() => Promise<void>)[] = [];
  always: () => Promise<void> = async () => undefined;
  isAnswering = true;

  failWith(error: Error, times = Number.POSITIVE_INFINITY): void {
    const fail = async () => Promise.reject(error);
    if (times === Number.POSITIVE_INFINITY) this.always = fail;
    else for (let time = 0; time < times; time++) this.next.push(fail);
  }

  hang(): void {
    this.isAnswering = false;
    this.always = () => new Promise(() => undefined);
  }

  readonly server = {
    url: 'http://fake',
    layout: LAYOUT,
    answers: async () => this.isAnswering,
    query: async () => {
      await this.#call('query');
      return { rows: [], total: 0 };
    },
    insert: (_name: string, _rows: object, { token }: InsertOptions = {}) => this.#call('insert', token),
    command: () => this.#call('command'),
    close: async () => undefined,
  } as unknown as ClickHouseServer;

  async #call(kind: string, token?: string): Promise<void> {
    this.calls.push({ kind, token });
    await (this.next.shift() ?? this.always)();
  }
}

describe('Replicas of ClickHouse', () => {
  let fakes: [FakeServer, FakeServer, FakeServer];
  let clickhouse: ReturnType<typeof replicas>;
  const counts = () => fakes.map(({ calls }) => calls.length);

  beforeEach(() => {
    fakes = [new FakeServer(), new FakeServer(), new FakeServer()];
    clickhouse = replicas(fakes.map(({ server }) => server));
  });

  it('are asked one for as long as it can, and then the next', async () => {
    await clickhouse.query(query);
    fakes[0].failWith(unavailable('ECONNREFUSED'));
    await clickhouse.query(query);
    await clickhouse.command('test', rawSql('ALTER'));
    fakes[0].always = async () => undefined;
    await clickhouse.query(query);
    expect(counts()).to.deep.equal([2, 3, 0]);
  });

  it('repeat an insert with its token, and give every insert its own', async () => {
    fakes[0].failWith(unavailable('ECONNRESET'), 1);
    await clickhouse.insert('test', rows());
    await clickhouse.insert('test', rows());
    const [lost, repeated, another] = [...fakes[0].calls, ...fakes[1].calls].map(({ token }) => token);
    expect(lost).to.be.a('string').and.equal(repeated);
    expect(another).to.be.a('string').and.not.equal(lost);
  });

  it('wait for the insert before on the same one, as others would reject it too', async () => {
    fakes[0].failWith(unavailable(QUORUM_BEFORE), 3);
    await clickhouse.insert('test', rows());
    expect(counts()).to.deep.equal([4, 0, 0]);
    expect(new Set(fakes[0].calls.map(({ token }) => token)).size).to.equal(1);
  });

  it('insert into a table one after another, and into several at the same time', async () => {
    let running = 0;
    let most = 0;
    fakes[0].always = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
    };
    await Promise.all(Array.from({ length: 4 }, () => clickhouse.insert('test', rows())));
    expect(most).to.equal(1);
    await Promise.all(['a', 'b'].map((table) => clickhouse.insert('test', rows(table))));
    expect(most).to.equal(2);
    await Promise.all([1, 2, 3].map(() => clickhouse.insert('test', rows(), { grouped: true })));
    expect(most).to.equal(3);
  });

  it('answer nothing while none is up to date, and again once one is', async () => {
    for (const fake of fakes) fake.failWith(unavailable(NOT_IN_QUORUM));
    const begun = performance.now();
    expect(await failureOf(clickhouse.query(query))).to.be.instanceOf(StoreUnavailableError);
    expect(performance.now() - begun).to.be.within(1900, 4000);
    setTimeout(() => {
      fakes[2].always = async () => undefined;
    }, 300);
    await clickhouse.query(query);
  });

  it('fail at once where all are down', async () => {
    for (const fake of fakes) fake.failWith(unavailable('ECONNREFUSED'));
    expect(await failureOf(clickhouse.query(query))).to.be.instanceOf(StoreUnavailableError);
    expect(counts()).to.deep.equal([1, 1, 1]);
  });

  for (const [what, error] of [
    ['rows that one rejects', unavailable('27')],
    ['a statement that needs too much memory', unavailable('241')],
    ['a statement that took too long', new StoreTimeoutError('analytics')],
  ] as const) {
    it(`are not asked one after another for ${what}`, async () => {
      fakes[0].failWith(error);
      expect(await failureOf(clickhouse.insert('test', rows()))).to.equal(error);
      expect(counts()).to.deep.equal([1, 0, 0]);
    });
  }

  it('leave one that hangs, but not one that is slow', async () => {
    fakes[0].always = () => new Promise((resolve) => setTimeout(resolve, 1600));
    await clickhouse.insert('test', rows());
    expect(counts()).to.deep.equal([1, 0, 0]);
    fakes[0].hang();
    const begun = performance.now();
    await Promise.all([clickhouse.query(query), clickhouse.insert('test', rows())]);
    expect(performance.now() - begun).to.be.below(1500);
    expect(counts()).to.deep.equal([3, 2, 0]);
  });

  it('end the wait of a caller who leaves', async () => {
    for (const fake of fakes) fake.failWith(unavailable(NOT_IN_QUORUM));
    const abort = new AbortController();
    const running = failureOf(clickhouse.query(query, abort.signal));
    abort.abort(new Error('the client left'));
    expect(await running).to.be.instanceOf(Error);
    expect(fakes[0].calls.length).to.be.below(3);
  });
});
