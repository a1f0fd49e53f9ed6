import { existsSync, mkdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type FreezeListener,
  listenForFreezes,
  requestFreeze,
} from '../../../services/stores/backup/freeze-socket.js';
import {
  ANALYTICS_FOLDER,
  FREEZE_SOCKET,
  FROZEN_PARTS_FOLDER,
} from '../../../services/stores/data-folder/layout.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';

describe('The socket of backups', () => {
  let folder: string;
  let listener: FreezeListener;
  let turn: Promise<void> = Promise.resolve();
  const asked: string[] = [];
  const frozen: string[] = [];
  const partsOf = (name: string) => join(folder, ANALYTICS_FOLDER, FROZEN_PARTS_FOLDER, name);
  before(async () => {
    folder = tempFolder();
    const freeze = async (name: string, work: () => Promise<void>) => {
      asked.push(name);
      await turn;
      mkdirSync(partsOf(name), { recursive: true });
      frozen.push(name);
      await work();
    };
    listener = await listenForFreezes(folder, freeze, (error) => {
      throw error;
    });
  });
  after(async () => {
    await listener.close();
  });

  it('is open to its user alone', () => {
    expect(statSync(join(folder, FREEZE_SOCKET)).mode & 0o777).to.equal(0o600);
  });

  it('keeps frozen parts as long as the backup is connected', async () => {
    const { name, release } = await requestFreeze(folder, async () => undefined);
    expect(existsSync(partsOf(name))).to.equal(true);
    await release();
    expect(existsSync(partsOf(name)), 'parts after the release').to.equal(false);
  });

  it('keeps no parts for a backup that ended before its turn', async () => {
    let begin = () => {};
    turn = new Promise((resolve) => {
      begin = resolve;
    });
    for (const name of ['gone', 'next']) {
      const socket = connect(join(folder, FREEZE_SOCKET));
      socket.write(`freeze ${name}\n`);
      await until(() => asked.includes(name), `${name} is asked for`);
      socket.destroy();
    }
    begin();
    await until(() => frozen.includes('gone') && !existsSync(partsOf('gone')), 'the parts are removed');
  });

  it('ends a connection that sends more than a command takes', async () => {
    const socket = connect(join(folder, FREEZE_SOCKET));
    // The listener may close the socket during the write.
    socket.on('error', () => undefined);
    socket.write('x'.repeat(100_000));
    await new Promise((resolve) => socket.once('close', resolve));
  });

  it('turns the fifth backup at once away', async () => {
    turn = new Promise(() => {});
    const waiting = Array.from({ length: 4 }, () => requestFreeze(folder, async () => undefined));
    const [fifth] = await Promise.allSettled([requestFreeze(folder, async () => undefined)]);
    expect((fifth as PromiseRejectedResult).reason).to.include({ name: 'BackupError' });
    await listener.close();
    for (const result of await Promise.allSettled(waiting)) expect(result.status).to.equal('rejected');
  });
});
