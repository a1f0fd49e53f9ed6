import { fromJson } from '../../shared/json.js';
import type { AdminStore } from '../common/search-store.js';
import { getAudience, searchAudiences, upsertAudiences } from './audiences.js';
import { addCredits, readCredits, setCredits } from './credits.js';
import { openDatabase } from './database.js';
import { withStoreErrors } from './errors.js';
import { insertKey, listKeys, revokeKey } from './keys.js';
import { deleteRejections, listRejections } from './rejections.js';
import { WriteSession } from './writes/write-session.js';

const CACHE_MB = 8;

/**
 * Keys, credits and audiences without threads, which would double the time of a command. Safe beside a running server. Throws as
 * `openDatabase` does.
 */
export async function openSqliteAdminStore({ dataDir }: { dataDir: string }): Promise<AdminStore> {
  const connection = await openDatabase(dataDir, CACHE_MB);
  const session = new WriteSession(connection);
  const read = async <T>(work: () => T): Promise<T> => withStoreErrors(work);
  const write = async <T>(work: () => T): Promise<T> => withStoreErrors(() => session.transaction(work));
  return {
    insertKey: (key) => write(() => insertKey(connection, key)),
    listKeys: (organizationId) => read(() => fromJson(listKeys(connection, organizationId))),
    revokeKey: (keyId, revokedAt) => write(() => revokeKey(connection, keyId, revokedAt)),
    getCredits: (organizationId) => read(() => readCredits(connection, organizationId)),
    setCredits: (organizationId, balance) => write(() => setCredits(connection, organizationId, balance)),
    grantCredits: (organizationId, amount) => write(() => addCredits(connection, organizationId, amount)),
    getAudience: (organizationId, id) => read(() => fromJson(getAudience(connection, organizationId, id))),
    searchAudiences: (search) => read(() => fromJson(searchAudiences(connection, search))),
    upsertAudiences: async (records) => {
      await write(() => upsertAudiences(session, records));
    },
    listRejections: (organizationId) => read(() => fromJson(listRejections(connection, organizationId))),
    deleteRejections: (ids) => write(() => deleteRejections(connection, ids)),
    refresh: async () => {},
    close: async () => connection.close(),
  };
}
