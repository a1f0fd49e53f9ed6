import { expect } from 'chai';
import { ClockComparison, ClockSkewError } from '../../../services/shared/clock-comparison.js';
import { freshOrganization, loadAudiences } from '../../contract/record-store-support.js';
import { until } from '../../support/until.js';
import { openStore, testIndices } from './support.js';

describe('A process whose clock is a day ahead, on Elasticsearch', () => {
  const indices = testIndices();

  it('deletes and replaces no answer that another process keeps for its clients', async () => {
    const right = await openStore(indices.config, { clocks: new ClockComparison() });
    const ahead = { now: () => Date.now() + 86_405_000 };
    const clocks = new ClockComparison(ahead);
    const refused: unknown[] = [];
    const log = {
      info: () => undefined,
      warn: ({ err }: { err?: unknown }) => void refused.push(err),
    };
    const organizationId = freshOrganization();
    await loadAudiences(right, organizationId, 'aud');
    const remove = (store: typeof right, key: string) =>
      store.removeMembership({
        organizationId,
        audienceId: 'aud',
        contactId: 'c',
        idempotency: { route: 'remove', key, fingerprint: 'f' },
      });
    expect(await remove(right, 'k')).to.deep.include({ replayed: false });
    const wrong = await openStore(indices.config, { clock: ahead, clocks, recoveryIntervalMs: 50, log });
    await until(() => refused.some((error) => error instanceof ClockSkewError), 'a run was refused');
    expect(clocks.problems()[0]).to.match(
      /^The clock of this process is 8640\d s ahead of the records store/,
    );
    expect(await remove(wrong, 'k')).to.deep.include({ replayed: true });
    expect(await remove(right, 'k')).to.deep.include({ replayed: true });
  });
});
