import type { Credentials, ElasticsearchConfig } from '../../shared/config.js';
import { Cluster } from './client.js';

/** `manage` creates the index of a new month and its aliases, and reindexes. `monitor` reads health and versions. */
const INDEX_PRIVILEGES = ['read', 'write', 'manage'];

/** Creates the role and the user of Reachline, with an administrator's credentials. Repeatable: it then sets the password anew. */
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
