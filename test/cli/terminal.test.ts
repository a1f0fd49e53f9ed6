import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import { tempFolder } from '../support/temp-folder.js';
import { run } from './support.js';

const COMMAND = `${process.execPath} ${join(packageRoot, 'dist/services/cli/main.js')}`;
const ESCAPE = '\u001b[';

describe('On a terminal, the command line', function () {
  this.timeout(60_000);
  let folder: string;
  let env: Record<string, string>;
  before(async function () {
    try {
      execFileSync('script', ['--version'], { stdio: 'ignore' });
    } catch {
      // util-linux gives a terminal to a process.
      this.skip();
    }
    folder = tempFolder();
    env = { REACHLINE_DATA_DIR: join(folder, 'data'), PORT: '0' };
  });

  const onTerminal = (line: string, settings: Record<string, string> = {}): ChildProcess =>
    spawn('script', ['-qec', `stty cols 80; exec ${COMMAND} ${line}`, '/dev/null'], {
      env: { PATH: process.env.PATH, TERM: 'xterm', REACHLINE_SEARCH_THREADS: '1', ...env, ...settings },
    });

  /** Types each answer when its question is seen. */
  async function typed(line: string, answers: [question: string, answer: string][] = [], settings = {}) {
    const child = onTerminal(line, settings);
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      const [next] = answers;
      if (next && output.includes(next[0])) {
        answers.shift();
        child.stdin?.write(next[1]);
      }
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  it('has colours, except with NO_COLOR or in a pipe', async () => {
    expect((await typed('doctor')).output).to.contain(`${ESCAPE}32m✓`);
    expect((await typed('keys --help')).output).to.contain(`${ESCAPE}1mUsage:`);
    expect((await run(['doctor'], { env })).stdout).to.not.contain(ESCAPE);
    expect((await run(['keys', '--help'], { env })).stdout).to.not.contain(ESCAPE);
  });

  it('asks before it revokes a key, unless --yes is given', async () => {
    const create = ['keys', 'create', '--organization', 'org_a', '--name', 'loader'];
    const id = (await run(create, { env })).stdout.slice(8, 16);
    const state = async () => {
      const { stdout } = await run(['keys', 'list', '--json'], { env });
      return (JSON.parse(stdout) as { state: string }).state;
    };
    const question = `Revoke the key ${id} of org_a, "loader"? [y/N]`;
    for (const answer of ['n\r', '\r', '\u0003']) {
      const { code, output } = await typed(`keys revoke ${id}`, [[question, answer]]);
      expect(output, JSON.stringify(answer)).to.contain('Nothing was revoked.');
      expect(code).to.equal(1);
    }
    expect(await state()).to.equal('active');
    expect(await typed(`keys revoke ${id}`, [[question, 'y\r']])).to.include({ code: 0 });
    expect(await state()).to.equal('revoked');
    const again = await typed(`keys revoke ${id} --yes`);
    expect(again.output).to.contain('is revoked').and.not.contain('[y/N]');
  });

  it('lists keys within the width of the terminal', async () => {
    const name = 'x'.repeat(100);
    await run(['keys', 'create', '--organization', 'org_a', '--name', name], { env });
    const { output } = await typed('keys list', [], { NO_COLOR: '1' });
    const lines = output.trimEnd().split('\r\n');
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(80);
    expect(output).to.contain('xxxx…').and.to.contain(' default ').and.not.contain(ESCAPE);
    expect((await run(['keys', 'list'], { env })).stdout).to.contain(name);
  });

  it('writes the log as readable lines, and as JSON elsewhere or where it is asked to', async () => {
    const serving = async (settings: Record<string, string>) => {
      const child = onTerminal('serve --port 0', { REACHLINE_IMAGE_TAG: 'x', ...settings });
      let output = '';
      let stopped = false;
      child.stdout?.on('data', (chunk) => {
        output += chunk;
        if (!stopped && /listens on/.test(output) && /Ignored, as/.test(output)) {
          stopped = true;
          child.stdin?.write('\u0003');
        }
      });
      await once(child, 'close');
      return output;
    };
    const readable = await serving({ NO_COLOR: '1' });
    expect(readable).to.match(
      /\d\d:\d\d:\d\d\.\d{3} WARN {2}Ignored, as .* {2}variables=\["REACHLINE_IMAGE_TAG"\]/,
    );
    expect(readable).to.not.contain('"level"');
    expect(await serving({ REACHLINE_LOG_FORMAT: 'json' })).to.contain('{"level":40,');
  });

  it('shows the rate and the time left of a load', async () => {
    const file = join(folder, 'many.ndjson');
    const line = (n: number) => JSON.stringify({ id: `v${n}`, createdAt: '2026-01-01T00:00:00Z' });
    await writeFile(file, Array.from({ length: 5000 }, (_, n) => line(n)).join('\n'));
    const { code, output } = await typed(`ingest website-visits ${file} --organization org_a`);
    expect(code, output).to.equal(0);
    expect(output).to.match(/% \w+ left [\d ]+ records, [\d ]+\/s/);
  });
});
