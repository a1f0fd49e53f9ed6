import { join } from 'node:path';
import { expect } from 'chai';
import { deleteExpired } from '../../services/cli/retention.js';
import { ClockComparison } from '../../services/shared/clock-comparison.js';
import { timeNoteOf } from '../../services/stores/data-folder/time-note.js';
import { openStores } from '../../services/stores/open-stores.js';
import { run } from '../cli/support.js';
import { freshOrganization, loadAudiences } from '../contract/record-store-support.js';
import { tempFolder } from '../support/temp-folder.js';

const DAY_MS = 86_400_000;
const RETENTION = { visitsDays: 400, deliveriesDays: 400 };

describe('Embedded stores that are started once with a clock that is ten years ahead', function () {
  this.timeout(60_000);
  const dataDir = join(tempFolder(), 'data');
  const organizationId = freshOrganization();

  /** Opens the stores as a server does. */
  async function start(aheadMs: number) {
    const clock = { now: () => Date.now() + aheadMs };
    const clocks = new ClockComparison(clock);
    const stores = await openStores({ dataDir, searchProcesses: 1 }, { clock, clocks });
    const { records } = stores;
    return {
      clocks,
      close: () => stores.close(),
      /** Deletes as the retention job does. */
      async purge() {
        await clocks.requireRightClock();
        return deleteExpired(RETENTION, stores, clock.now());
      },
      removeOnce: () =>
        records.removeMembership({
          organizationId,
          audienceId: 'aud',
          contactId: 'c',
          idempotency: { route: 'remove', key: 'k', fingerprint: 'f' },
        }),
      reject: (id: string) =>
        records.keepRejections(organizationId, [
          {
            id,
            organization_id: organizationId,
            stream: 'contacts',
            line: 1,
            code: 'invalid',
            pointer: '',
            record_id: null,
            rejected_at: new Date(clock.now()).toISOString(),
            sequence: 1,
          } as never,
        ]),
      rejections: async () => (await records.listRejections({ organizationId, limit: 10 })).items.length,
      visits: async () => (await records.searchVisits({ organizationId, limit: 10 } as never)).total,
      stores,
    };
  }

  it('have everything still, say what is wrong, and go on with the right clock', async () => {
    const right = await start(0);
    await loadAudiences(right.stores.records, organizationId, 'aud');
    const visits = [1, 200].map((days) => ({
      record: {
        organizationId,
        id: `v${days}`,
        createdAt: new Date(Date.now() - days * DAY_MS).toISOString(),
      } as never,
      acceptedAt: Date.now(),
      sequence: days,
    }));
    await right.stores.records.insertVisits(visits as never);
    await right.reject('r1');
    expect(await right.removeOnce()).to.deep.include({ replayed: false });
    expect(await right.purge()).to.deep.include({ visits: 0 });
    await right.close();

    const wrong = await start(3650 * DAY_MS);
    const refused = await wrong.purge().catch((error: Error) => error);
    expect(refused).to.have.property('name', 'ClockSkewError');
    expect(wrong.clocks.problems()[0]).to.contain('3650 days ahead').and.to.contain('--accept-clock');
    await wrong.reject('r2');
    expect(await wrong.removeOnce()).to.deep.include({ replayed: true });
    expect(await wrong.rejections()).to.equal(2);
    await wrong.close();

    const again = await start(0);
    expect(await again.visits()).to.equal(2);
    expect(await again.rejections()).to.equal(2);
    expect(await again.removeOnce()).to.deep.include({ replayed: true });
    expect(await again.purge()).to.deep.include({ visits: 0 });
    await again.close();
  });

  it('are told by doctor, until the clock is accepted', async () => {
    const note = timeNoteOf(dataDir);
    note.write(Date.now() - 100 * DAY_MS);
    const env = { REACHLINE_DATA_DIR: dataDir, PORT: '0' };
    const { code, stdout } = await run(['doctor'], { env });
    expect(code, stdout).to.equal(1);
    expect(stdout).to.contain('100 days ahead');
    const accepted = await run(['doctor', '--accept-clock'], { env });
    expect(accepted.code, accepted.stdout).to.equal(0);
    const opened = await start(0);
    expect(await opened.purge()).to.deep.include({ visits: 0 });
    await opened.close();
  });
});
