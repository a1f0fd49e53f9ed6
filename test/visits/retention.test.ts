import { expect } from 'chai';
import fc from 'fast-check';
import { monthAt } from '../../services/shared/month.js';
import { endsBefore, monthOfVisit, planDrops } from '../../services/visits/retention.js';
import { runs } from '../support/random.js';

const moment = fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2100, 11, 31) });

describe('What a retention of visits may drop', () => {
  it('is never a month with a visit from the cutoff on, and never what is not stored by month', () => {
    fc.assert(
      fc.property(moment, moment, (createdMs, cutoff) => {
        const stored = monthOfVisit(createdMs);
        if (endsBefore(stored, cutoff)) expect(createdMs).to.be.below(cutoff);
        expect(endsBefore({ kind: 'other' }, cutoff)).to.equal(false);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('is refused where a month has a visit that its name excludes', () => {
    const cutoff = Date.UTC(2026, 0, 15);
    const month = { kind: 'month', month: monthAt(Date.UTC(2025, 10, 1)) } as const;
    const stored = (name: string, newestMs: number | null) => ({ name, month, visits: 1, newestMs });
    const months = [stored('old', cutoff - 1), stored('wrong', cutoff), stored('empty', null)];
    const plan = planDrops([...months, { ...stored('other', null), month: { kind: 'other' } }], cutoff);
    expect(plan.dropped.map(({ name }) => name)).to.deep.equal(['old', 'empty']);
    expect(plan.refused.map(({ name }) => name)).to.deep.equal(['wrong']);
  });
});
