import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import type { ClickHouse } from '../../../services/stores/clickhouse/client.js';
import { openClickHouse } from '../../../services/stores/clickhouse/open.js';
import { rawSql } from '../../support/raw-sql.js';
import { tempFolder } from '../../support/temp-folder.js';

const nameOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: Error) => error.name,
  );

describe('embedded ClickHouse', () => {
  let folder: string;
  let clickhouse: ClickHouse;

  beforeEach(async () => {
    folder = tempFolder();
    clickhouse = await openClickHouse({ path: folder, timeoutMs: 300 });
  });
  afterEach(async () => {
    await clickhouse.close();
  });

  const reopenWithoutTimeLimit = async () => {
    await clickhouse.close();
    clickhouse = await openClickHouse({ path: folder });
  };

  const ask = (sql: string, params = {}, signal?: AbortSignal) =>
    clickhouse.query<Record<string, unknown>>({ name: 'test', sql: rawSql(sql), params }, signal);

  const expectNothingOfIt = async () =>
    expect((await ask("SELECT 'of org_b' AS value")).rows).to.deep.equal([{ value: 'of org_b' }]);

  it('ends a query at its time limit, and later results hold nothing of it', async () => {
    // Enough rows of one organization that some are written before the time is up.
    const secret = "SELECT 'secret of org_a' AS value, sleepEachRow(0.01) FROM numbers(100000)";
    expect(await nameOf(ask(`${secret} SETTINGS max_block_size = 1`))).to.equal('StoreTimeoutError');
    for (let again = 0; again < 4; again++) await expectNothingOfIt();
  });

  it('keeps rows of a query that fails half way or is aborted out of later results', async () => {
    await reopenWithoutTimeLimit();
    const failing = "SELECT 'secret of org_a' AS value, throwIf(number = 50000) AS x FROM numbers(100000)";
    const long = "SELECT 'secret of org_a' AS value, cityHash64(number) AS hash FROM numbers(3000000)";
    for (let again = 0; again < 4; again++) {
      expect(await nameOf(ask(failing))).to.equal('StoreUnavailableError');
      await expectNothingOfIt();
      const abort = new AbortController();
      const running = nameOf(ask(long, {}, abort.signal));
      await ask('SELECT 1');
      abort.abort();
      expect(await running).to.equal('AbortError');
      await expectNothingOfIt();
    }
  });

  it('sends nothing to the engine for queries aborted before they start', async () => {
    const statements = async () =>
      Number((await ask("SELECT value FROM system.events WHERE event = 'Query'")).rows[0]?.value);
    const before = await statements();
    const clients = Array.from({ length: 200 }, () => new AbortController());
    const slow = 'SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1';
    const abandoned = clients.map(({ signal }) => nameOf(ask(slow, {}, signal)));
    await new Promise(setImmediate);
    for (const client of clients) client.abort();
    expect(new Set(await Promise.all(abandoned))).to.deep.equal(new Set(['AbortError']));
    expect((await statements()) - before).to.be.below(20);
  });

  it('rejects with AbortError when the signal is already aborted', async () => {
    expect(await nameOf(ask('SELECT 1', {}, AbortSignal.abort()))).to.equal('AbortError');
    expect((await ask('SELECT 2 AS two')).rows).to.deep.equal([{ two: 2 }]);
  });

  it('runs every query under its own settings, whatever ran before on the connection', async () => {
    await ask('SELECT 1 SETTINGS max_threads = 1').catch(() => undefined);
    const { rows } = await ask(
      "SELECT getSetting('max_execution_time') AS seconds, getSetting('log_comment') AS name",
    );
    expect(rows).to.deep.equal([{ seconds: 0.3, name: 'test' }]);
  });

  it('computes on two threads', async () => {
    const { rows } = await ask(
      'EXPLAIN PIPELINE SELECT count() FROM numbers_mt(10000000) GROUP BY number % 2',
    );
    expect(rows.map(({ explain }) => explain)).to.include('    AggregatingTransform × 2');
  });

  it('keeps the event loop free while it computes', async () => {
    let turns = 0;
    const running = nameOf(ask('SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1'));
    let done = false;
    const finished = running.then(() => {
      done = true;
    });
    while (!done) {
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await finished;
    expect(turns).to.be.greaterThan(100);
  });

  it('rejects queries once closed', async () => {
    await clickhouse.close();
    expect(await nameOf(ask('SELECT 1'))).to.equal('StoreUnavailableError');
  });

  it('still has acknowledged rows after it is opened again', async () => {
    await clickhouse.command(
      'test',
      rawSql('CREATE TABLE kept (value String) ENGINE = MergeTree ORDER BY value'),
    );
    await clickhouse.insert('test', { table: 'kept', columns: ['value'], text: 'here\n' });
    await reopenWithoutTimeLimit();
    expect((await ask('SELECT value FROM kept')).rows).to.deep.equal([{ value: 'here' }]);
  });

  it('throws FolderInUseError when another process holds the folder', () => {
    const script = `import { openClickHouse } from ${JSON.stringify(new URL('../../../services/stores/clickhouse/open.js', import.meta.url).href)};
      try { await openClickHouse({ path: ${JSON.stringify(folder)} }); console.log('opened'); } catch (error) { console.log(error.name); process.exit(0); }`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect(output.trim()).to.equal('FolderInUseError');
  });
});
