/** PostgreSQL as it is installed on this machine, in a folder of its own. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/stack/free-port.js';
import { type Server, startServer } from '../../test/stack/server.js';
import { makeServerFolder } from '../../test/stack/server-folder.js';
import { unprivilegedUser } from '../../test/stack/unprivileged-user.js';

const INSTALLATIONS = '/usr/lib/postgresql';

/** Null where none is installed. Its address is a connection string. */
export async function startPostgres(): Promise<Server | null> {
  const versions = existsSync(INSTALLATIONS) ? readdirSync(INSTALLATIONS) : [];
  const newest = versions.sort((left, right) => Number(left) - Number(right)).at(-1);
  if (newest === undefined) return null;
  const bin = join(INSTALLATIONS, newest, 'bin');
  const port = await freePort();
  const folder = makeServerFolder('postgres', []);
  const data = join(folder, 'data');
  const user = unprivilegedUser();
  execFileSync(
    join(bin, 'initdb'),
    ['--pgdata', data, '--username=bench', '--auth=trust', '--encoding=UTF8'],
    {
      stdio: 'ignore',
      env: { LC_ALL: 'C.UTF-8' },
      cwd: folder,
      ...user,
    },
  );
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    shared_buffers: '1GB',
    work_mem: '32MB',
    maintenance_work_mem: '256MB',
    max_wal_size: '4GB',
    random_page_cost: '1.1',
    jit: 'off',
    plan_cache_mode: 'force_custom_plan',
    max_parallel_workers_per_gather: '0',
    'pg_trgm.word_similarity_threshold': '0.4',
  };
  return startServer({
    name: 'postgres',
    address: `postgresql://bench@127.0.0.1:${port}/postgres`,
    folder,
    command: join(bin, 'postgres'),
    args: [
      '-D',
      data,
      '-p',
      String(port),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    environment: {},
    user,
    answers: async () => {
      execFileSync(join(bin, 'pg_isready'), ['--host=127.0.0.1', `--port=${port}`], { stdio: 'ignore' });
      return true;
    },
  });
}
