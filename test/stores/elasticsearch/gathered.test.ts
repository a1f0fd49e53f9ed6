import { expect } from 'chai';
import { Gathered } from '../../../services/stores/elasticsearch/gathered.js';

describe('What is asked within a turn of the event loop', () => {
  const doubled = (most: number) => {
    const asked: number[][] = [];
    const gathered = new Gathered<number, number>(most, async (items) => {
      asked.push([...items]);
      if (items.includes(13)) throw new Error('all');
      return items.map((item) => (item < 0 ? new Error(`negative ${item}`) : item * 2));
    });
    return { asked, gathered };
  };

  it('is done together, at most so many, and what is asked later is not', async () => {
    const { asked, gathered } = doubled(3);
    const first = [1, 2, 3, 4].map((item) => gathered.add(item));
    await new Promise(setImmediate);
    const later = gathered.add(5);
    expect(await Promise.all([...first, later])).to.deep.equal([2, 4, 6, 8, 10]);
    expect(asked).to.deep.equal([[1, 2, 3], [4], [5]]);
  });

  it('fails each by itself, and all where the whole fails', async () => {
    const { gathered } = doubled(10);
    const settled = await Promise.allSettled([1, -1, 2].map((item) => gathered.add(item)));
    expect(settled.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    const all = await Promise.allSettled([1, 13].map((item) => gathered.add(item)));
    expect(all.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
  });
});
