import type { Credentials, ElasticsearchConfig } from '../../shared/config.js';
import { Cluster } from './client.js';

/**
 * Privileges on indices. `manage` is for reindexing and for creating the index of a new month with its aliases; `monitor` is for reading
 * health and versions.
 */
const INDEX_PRIVILEGES = ['read', 'write', 'manage'];

/** Creates the role and the user of Reachline, with an administrator's credentials. A repeated call sets the password again. */
export async function createElasticsearchAccount(
  config: ElasticsearchConfig,
  { username, password }: Credentials,
  admin: Credentials,
): Promise<void> {
  const cluster = new Cluster({ ...config, apiKey: null, basic: admin });
  const role = config.indexPrefix;
  try {
    await cluster.run((client) =>
      client.security.putRole({
        name: role,
        cluster: ['monitor'],
        indices: [{ names: [`${config.indexPrefix}-*`], privileges: INDEX_PRIVILEGES }],
      }),
    );
    await cluster.run((client) =>
      client.security.putUser({ username, password, roles: [role], full_name: 'Reachline' }),
    );
  } finally {
    await cluster.close();
  }
}
