import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';

const urlOf = (path: string) => JSON.stringify(`file://${join(packageRoot, 'dist/services', path)}`);

/** Runs a process that closes on request, then runs `then`. */
async function closing(
  close: string,
  then: string,
): Promise<{ code: number; lines: Record<string, unknown>[] }> {
  const script = `
    import { createLogger, logFile } from ${urlOf('shared/logger.js')};
    import { runUntilSignal } from ${urlOf('cli/graceful-shutdown.js')};
    setInterval(() => {}, 1000);
    void runUntilSignal(async () => { ${close} }, createLogger('info', logFile(2)), { delay: 200 });
    ${then}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  const lines = errors
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, lines };
}

describe('A process that closes', () => {
  it('names the uncaught error that ends it', async () => {
    const { code, lines } = await closing('', 'setImmediate(() => { throw new Error("out of nowhere"); });');
    expect(code).to.equal(1);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['uncaught error; the process shuts down']);
    expect(lines[0]?.err).to.include({ message: 'out of nowhere' });
  });

  it('says so when closing fails', async () => {
    const { code, lines } = await closing(
      'throw new Error("stuck");',
      'process.kill(process.pid, "SIGTERM");',
    );
    expect(code).to.equal(1);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['closing failed']);
    expect(lines[0]?.err).to.include({ message: 'stuck' });
  });

  it('says so when closing takes too long', async () => {
    const { code, lines } = await closing(
      'await new Promise(() => {});',
      'process.kill(process.pid, "SIGTERM");',
    );
    expect(code).to.equal(1);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['closing took longer than 0.2 s; the process ends']);
  });
});
