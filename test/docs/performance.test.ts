import { expect } from 'chai';
import { withFigures } from '../../bench/page.js';
import { type PeerFigure, readPeers, withPeers } from '../../bench/peers/page.js';
import { readDoc } from './support.js';

describe('The table of docs/performance.md', () => {
  const page = readDoc('docs/performance.md');
  const judged = (name: string, value: number) => ({
    name,
    unit: 'ms',
    value,
    target: '≤ 10',
    met: value <= 10,
  });

  it('has a row of five cells for each figure', () => {
    const rows = page.split('\n').filter((line) => / \| \d{4}-\d\d-\d\d \|$/.test(line));
    expect(rows).to.have.length.above(20);
    for (const row of rows) expect(row.split(' | '), row).to.have.length(5);
  });

  it('is followed by what was measured beside others', () => {
    expect(withPeers(page, readPeers())).to.equal(page);
    const [first, ...others] = readPeers();
    const changed = withPeers(page, [{ ...(first as PeerFigure), ratio: 7.77, met: false }, ...others]);
    expect(changed).to.contain('**7.77** of ');
  });

  it('gets the figures of a run that have a target, in place of those of the same name', () => {
    const once = withFigures(page, [judged('a new one', 5)], '2026-01-01');
    expect(once).to.contain('\n| a new one | 5.00 ms |  | ≤ 10 | 2026-01-01 |\n');
    const twice = withFigures(
      once,
      [judged('a new one', 11), { ...judged('unjudged', 1), target: 'reported' }],
      '2026-01-02',
    );
    expect(twice).to.equal(
      once.replace('5.00 ms |  | ≤ 10 | 2026-01-01', '11.00 ms |  | ≤ 10, missed | 2026-01-02'),
    );
  });
});
