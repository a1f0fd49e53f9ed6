import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const FIXTURE = fileURLToPath(new URL('./supervisor.fixture.js', import.meta.url));

describe('The supervisor of gateway processes', function () {
  this.timeout(60_000);
  let folder: string;
  let primary: ChildProcess;
  let log: string;
  let ended: Promise<unknown[]>;
  beforeEach(async () => {
    folder = tempFolder();
    log = '';
    primary = spawn(process.execPath, [FIXTURE, folder]);
    ended = once(primary, 'close');
    primary.stderr?.on('data', (chunk: Buffer) => {
      log += chunk;
    });
    await once(primary.stdout as NonNullable<ChildProcess['stdout']>, 'data');
  });
  afterEach(async () => {
    primary.kill('SIGKILL');
    await ended;
  });

  const pids = async () =>
    (await readdir(folder)).filter((name) => name.startsWith('pid-')).map((name) => Number(name.slice(4)));
  const lines = () =>
    log
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { msg: string; level: number; slot: number });

  it('keeps the other processes while one slot cannot be started, and starts it once that works', async () => {
    const [victim, ...others] = await pids();
    expect(others).to.have.lengthOf(1);
    await writeFile(join(folder, 'broken'), '');
    process.kill(victim as number, 'SIGUSR2');
    await until(async () => (await pids()).length >= 2 + 6, 'six starts have failed');
    for (const pid of others) expect(isThere(pid), String(pid)).to.equal(true);
    expect(lines()[0]?.msg, 'a short run, whatever the clock says').to.include('restarting it in 10 ms');
    await rm(join(folder, 'broken'));
    await until(async () => (await pids()).filter(isThere).length === 2, 'the slot has a process again');
    expect(primary.exitCode).to.equal(null);
  });

  it('ends with exit code 1 and the reason in the log when no process listens and one cannot be started', async () => {
    await writeFile(join(folder, 'broken'), '');
    for (const pid of await pids()) process.kill(pid, 'SIGUSR2');
    expect(await ended).to.deep.equal([1, null]);
    for (const pid of await pids()) expect(isThere(pid), String(pid)).to.equal(false);
    expect(lines().some(({ msg }) => /5 times in a row, and none listens; stopping$/.test(msg))).to.equal(
      true,
    );
  });

  it('counts failed starts per slot, so that all slots may fail at the same time', async () => {
    const first = await pids();
    await writeFile(join(folder, 'broken'), '');
    for (const pid of first) process.kill(pid, 'SIGUSR2');
    // Five failed starts over two slots.
    await until(async () => (await pids()).length >= first.length + 5, 'five starts have failed');
    await rm(join(folder, 'broken'));
    await until(async () => {
      const running = (await pids()).filter((pid) => isThere(pid));
      return running.length === 2 && running.every((pid) => !first.includes(pid));
    }, 'every slot has a new process');
    expect(log).not.to.contain('none listens');
    expect(primary.exitCode).to.equal(null);
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
