import { expect } from 'chai';
import { SqlError } from '../../services/sql-endpoint/errors.js';
import { FairMutex } from '../../services/sql-endpoint/fair-mutex.js';
import { EngineEndedError } from '../../services/stores/clickhouse/errors.js';

describe('The mutex of statements', () => {
  /** A statement that runs until the test ends it. */
  function statement(mutex: FairMutex, organization: string, log: string[] = []) {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const ended = mutex
      .runExclusive(
        organization,
        (signal) => {
          log.push(organization);
          return Promise.race([
            finished,
            new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
          ]);
        },
        new AbortController().signal,
      )
      .then(
        () => 'ended',
        (error: unknown) => error,
      );
    return { finish, ended };
  }

  it('gives organizations turns, however many statements one of them has waiting', async () => {
    const mutex = new FairMutex({ deadlineMs: 60_000 });
    const log: string[] = [];
    const statements = ['a', 'a', 'a', 'a', 'b', 'c'].map((each) => statement(mutex, each, log));
    for (const { finish } of statements) finish();
    for (const { ended } of statements) expect(await ended).to.equal('ended');
    expect(log).to.deep.equal(['a', 'a', 'b', 'c', 'a', 'a']);
  });

  it('lets 60 statements of an organization wait, and 200 in total', async () => {
    const mutex = new FairMutex({ deadlineMs: 60_000 });
    const own = Array.from({ length: 62 }, () => statement(mutex, 'a'));
    const others = Array.from({ length: 141 }, (_, index) => statement(mutex, `b${index % 5}`));
    for (const refused of [own[61], others[140]])
      expect(await refused?.ended)
        .to.be.instanceOf(SqlError)
        .and.include({ code: 202 });
    const admitted = [...own.slice(0, 61), ...others.slice(0, 140)];
    for (const { finish } of admitted) finish();
    for (const { ended } of admitted) expect(await ended).to.equal('ended');
  });

  it('ends a statement that has had its share once another organization waits, and only then', async () => {
    const mutex = new FairMutex({ deadlineMs: 60_000, shareMs: 0 });
    const long = statement(mutex, 'a');
    const own = statement(mutex, 'a');
    const other = statement(mutex, 'b');
    expect(await long.ended)
      .to.be.instanceOf(SqlError)
      .and.include({ code: 209 });
    other.finish();
    own.finish();
    expect([await own.ended, await other.ended]).to.include('ended');
  });

  it('refuses an organization for a while after the engine ended under its statement, and lets all others go on', async () => {
    const told: string[] = [];
    const mutex = new FairMutex({
      deadlineMs: 60_000,
      onEndless: (organization) => void told.push(organization),
    });
    const run = (organization: string, work: () => Promise<unknown>) =>
      mutex.runExclusive(organization, work, new AbortController().signal).then(
        () => 'ran',
        (error: SqlError) => error.code ?? error.name,
      );
    const ending = async () => {
      throw new EngineEndedError('SIGKILL');
    };
    const running = async () => undefined;
    expect(await run('a', ending)).to.equal('StoreUnavailableError');
    expect(await run('a', running)).to.equal(439);
    expect(await run('b', running)).to.equal('ran');
    expect(told).to.deep.equal(['a']);
  });

  it('takes an organization again after that', async () => {
    const mutex = new FairMutex({ deadlineMs: 60_000, refuseMs: 0 });
    const ended = mutex.runExclusive(
      'a',
      () => Promise.reject(new EngineEndedError('SIGKILL')),
      new AbortController().signal,
    );
    expect(await ended.catch((error: Error) => error.name)).to.equal('StoreUnavailableError');
    const next = statement(mutex, 'a');
    next.finish();
    expect(await next.ended).to.equal('ended');
  });
});
