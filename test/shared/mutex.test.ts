import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { oneAtATime } from '../../services/shared/mutex.js';

describe('oneAtATime', () => {
  it('runs tasks after one another in the order they came, also after one that fails', async () => {
    const run = oneAtATime();
    const seen: string[] = [];
    const task = (name: string, milliseconds: number) => async () => {
      seen.push(`${name} begins`);
      await pause(milliseconds);
      seen.push(`${name} ends`);
      if (name === 'b') throw new Error('b failed');
      return name;
    };
    const outcomes = await Promise.allSettled([run(task('a', 5)), run(task('b', 2)), run(task('c', 1))]);
    expect(seen).to.deep.equal(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
  });
});
