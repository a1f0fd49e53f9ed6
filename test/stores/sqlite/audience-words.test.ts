import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from '../../../services/shared/sql.js';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import { SEARCH_FILE } from '../../../services/stores/data-folder/layout.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('Words of audiences in SQLite', () => {
  const dataDir = tempFolder();
  const organization_id = 'org_a';
  let store: RecordStore;
  before(async () => {
    store = await openSqliteStore({ dataDir, searchProcesses: 1 });
  });
  after(() => store.close());

  const create = (id: string, name: string) =>
    store.createAudience({
      audience: {
        ...{
          organization_id,
          id,
          name,
          description: null,
          network_a: false,
          network_b: false,
          network_c: false,
          tracking_utm_value: null,
        },
        ...{ created_at: '2026-01-01T00:00:00.000Z' },
      },
    } as Parameters<RecordStore['createAudience']>[0]);

  function words(): string[] {
    const connection = new Connection(join(dataDir, SEARCH_FILE), { cacheMb: 2 });
    try {
      return connection.rows<[string]>(sql`SELECT word FROM vocabulary ORDER BY word`).flat();
    } finally {
      connection.close();
    }
  }

  it('leave the vocabulary with the last audience that has them', async () => {
    await create('one', 'Quarterly Buyers');
    await create('two', 'Quarterly Visitors');
    expect(words()).to.deep.equal([
      'buyers',
      'quarterly',
      'quarterlybuyers',
      'quarterlyvisitors',
      'visitors',
    ]);
    await store.updateAudience({
      organizationId: organization_id,
      audienceId: 'one',
      changes: { name: 'Quarterly Owners' },
    });
    expect(words()).to.deep.equal([
      'owners',
      'quarterly',
      'quarterlyowners',
      'quarterlyvisitors',
      'visitors',
    ]);
    await store.deleteAudience({ organizationId: organization_id, audienceId: 'one' });
    expect(words()).to.deep.equal(['quarterly', 'quarterlyvisitors', 'visitors']);
    await store.deleteAudience({ organizationId: organization_id, audienceId: 'two' });
    expect(words()).to.deep.equal([]);
  });
});
