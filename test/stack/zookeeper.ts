import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zooKeeperDistribution } from './distributions.js';
import { freePort } from './free-port.js';
import { findJava, javaProgram } from './java.js';
import { answersTo, type Server, startServer } from './server.js';
import { makeServerFolder } from './server-folder.js';
import { unprivilegedUser } from './unprivileged-user.js';

/** A coordinator of ClickHouse replicas, which ends with this process. Throws `MissingPrerequisite` if it cannot be installed. */
export async function startZooKeeper(): Promise<Server> {
  const java = join(findJava(17), 'bin/java');
  const classPath = join(await zooKeeperDistribution(), '*');
  const port = await freePort();
  const folder = makeServerFolder('zookeeper', ['data']);
  const configuration = join(folder, 'zoo.cfg');
  const settings = [
    `dataDir=${join(folder, 'data')}`,
    `clientPort=${port}`,
    'clientPortAddress=127.0.0.1',
    'admin.enableServer=false',
    '4lw.commands.whitelist=ruok',
  ];
  writeFileSync(configuration, settings.join('\n'));
  const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
  return startServer({
    name: 'zookeeper',
    address: `127.0.0.1:${port}`,
    folder,
    command: java,
    args: ['-Xmx96m', ...javaProgram(classPath, main, configuration)],
    environment: {},
    user: unprivilegedUser(),
    answers: () => answersTo(port, 'ruok', 'imok'),
  });
}
