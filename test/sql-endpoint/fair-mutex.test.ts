import { expect } from 'chai';
import { SqlError } from '../../services/sql-endpoint/errors.js';
import { FairMutex } from '../../services/sql-endpoint/fair-mutex.js';

describe('The mutex of statements', () => {
  /** A statement that runs until it is told to end. */
  function statement(mutex: FairMutex, organization: string | null, log: string[] = []) {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const ended = mutex
      .runExclusive(
        organization,
        (signal) => {
          log.push(organization ?? 'password');
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

  it('lets 20 statements of an organization wait, 100 of the password, and others besides', async () => {
    const mutex = new FairMutex({ deadlineMs: 60_000 });
    const own = Array.from({ length: 22 }, () => statement(mutex, 'a'));
    const others = [statement(mutex, 'b'), ...Array.from({ length: 80 }, () => statement(mutex, null))];
    for (const refused of [own[21], others[80]])
      expect(await refused?.ended)
        .to.be.instanceOf(SqlError)
        .and.include({ code: 202 });
    const admitted = [...own.slice(0, 21), ...others.slice(0, 80)];
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

  it('refuses the organization whose statement does not end, and lets all others go on', async () => {
    const counts: [number, string][] = [];
    const mutex = new FairMutex({
      deadlineMs: 1,
      onAbandoned: (abandoned, organization) => void counts.push([abandoned, organization]),
    });
    let release = () => {};
    const stuck = new Promise<void>((resolve) => {
      release = resolve;
    });
    const run = (organization: string, work: () => Promise<unknown>) =>
      mutex.runExclusive(organization, work, new AbortController().signal).then(
        () => 'ran',
        (error: SqlError) => error.message,
      );
    expect(await run('a', () => stuck)).to.match(/did not end/);
    for (let time = 0; time < 5; time++) expect(await run('a', () => stuck)).to.match(/still running/);
    expect(await run('b', async () => undefined)).to.equal('ran');
    release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await run('a', async () => undefined)).to.equal('ran');
    expect(counts).to.deep.equal([
      [1, 'a'],
      [0, 'a'],
    ]);
  });
});
