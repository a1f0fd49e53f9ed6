import type { Credentials, ElasticsearchConfig } from '../../shared/config.js';
import { Cluster } from './client.js';

/** `manage` is for the index of a new month and its aliases, and for rebuilding. Of the cluster, its health and versions are read. */
const INDEX_PRIVILEGES = ['read', 'write', 'manage'];

/** Makes the role and the user that Reachline uses, with an administrator's. Repeatable; the second time it changes the password. */
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
