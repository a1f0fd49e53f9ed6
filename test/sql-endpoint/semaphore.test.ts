import { expect } from 'chai';
import { SqlError } from '../../services/sql-endpoint/errors.js';
import { Semaphore } from '../../services/sql-endpoint/semaphore.js';

const never = new AbortController().signal;

describe('The semaphore of statements', () => {
  /** A statement that runs until it is told to end. */
  function statement(semaphore: Semaphore, organization: string, log: string[] = []) {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const ended = semaphore
      .run(
        organization,
        (signal) => {
          log.push(organization);
          return Promise.race([
            finished,
            new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
          ]);
        },
        never,
      )
      .then(
        () => 'ended',
        (error: unknown) => error,
      );
    return { finish, ended };
  }

  it('gives organizations turns, however many statements one of them has waiting', async () => {
    const semaphore = new Semaphore({ permits: 1, deadlineMs: 60_000 });
    const log: string[] = [];
    const statements = ['a', 'a', 'a', 'a', 'b', 'c'].map((each) => statement(semaphore, each, log));
    for (const { finish } of statements) finish();
    for (const { ended } of statements) expect(await ended).to.equal('ended');
    expect(log).to.deep.equal(['a', 'a', 'b', 'c', 'a', 'a']);
  });

  it('lets four statements of an organization wait, and others besides', async () => {
    const semaphore = new Semaphore({ permits: 1, deadlineMs: 60_000 });
    const own = Array.from({ length: 6 }, () => statement(semaphore, 'a'));
    expect(await own[5]?.ended)
      .to.be.instanceOf(SqlError)
      .and.include({ code: 202 });
    const other = statement(semaphore, 'b');
    for (const { finish } of [...own, other]) finish();
    expect(await other.ended).to.equal('ended');
  });

  it('ends a statement that has had its share once another organization waits, and only then', async () => {
    const semaphore = new Semaphore({ permits: 1, deadlineMs: 60_000, shareMs: 0 });
    const long = statement(semaphore, 'a');
    const own = statement(semaphore, 'a');
    const other = statement(semaphore, 'b');
    expect(await long.ended)
      .to.be.instanceOf(SqlError)
      .and.include({ code: 209 });
    other.finish();
    own.finish();
    expect([await own.ended, await other.ended]).to.include('ended');
  });
});
