import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { expect } from 'chai';
import { run as runCommand } from '../../services/cli/run.js';
import { packageRoot } from '../../services/shared/fs.js';
import { tempFolder } from '../support/temp-folder.js';
import { run } from './support.js';

const COMMAND = `${process.execPath} ${join(packageRoot, 'dist/services/cli/main.js')}`;
const ESCAPE = '\u001b[';

/** util-linux gives a terminal to a process. */
const HAS_SCRIPT = spawnSync('script', ['--version']).status === 0;

/** Control sequences that the command line itself writes to a terminal. */
const PROGRESS_AND_COLOURS = new RegExp(
  String.raw`${ESCAPE[0]}(?:[78]|\[(?:\d*(?:;\d+)*m|\d*[KGJ]|\?(?:25|7)[lh]))|[\r\t\n]`,
  'g',
);

type Answers = [question: string, answer: string][];

describe('On a terminal, the command line', function () {
  this.timeout(60_000);
  let folder: string;
  let env: Record<string, string>;
  before(() => {
    folder = tempFolder();
    env = { REACHLINE_DATA_DIR: join(folder, 'data'), PORT: '0', REACHLINE_SEARCH_PROCESSES: '1' };
  });

  /** Runs a command in this process with a simulated terminal. Types each answer when its question appears. */
  async function typed(args: string[], answers: Answers = [], settings = {}) {
    let output = '';
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const screen = new Writable({
      decodeStrings: false,
      write(chunk, _, done) {
        output += chunk;
        const answer = answers[0] && output.includes(answers[0][0]) ? answers.shift()?.[1] : undefined;
        // Nobody answers while the question is being written.
        if (answer !== undefined) setImmediate(() => stdin.write(answer));
        done();
      },
    });
    const stdout = Object.assign(screen, { isTTY: true, columns: 80 });
    const code = await runCommand(args, { stdin, stdout, stderr: stdout, env: { ...env, ...settings } });
    return { code, output };
  }

  /** Runs a command in a separate process, on a terminal. */
  async function onTerminal(args: string[], answers: Answers = [], settings = {}) {
    const command = `stty cols 80; exec ${COMMAND} ${args.join(' ')}`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: process.env.PATH, TERM: 'xterm', ...env, ...settings },
    });
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      if (answers[0] && output.includes(answers[0][0])) child.stdin?.write(answers.shift()?.[1] ?? '');
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  it('has colours, except with NO_COLOR or in a pipe', async () => {
    expect((await typed(['doctor'])).output).to.contain(`${ESCAPE}32m✓`);
    expect((await typed(['keys', '--help'])).output).to.contain(`${ESCAPE}1mUsage:`);
    expect((await typed(['doctor'], [], { NO_COLOR: '1' })).output).to.not.contain(ESCAPE);
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
      const { code, output } = await typed(['keys', 'revoke', id], [[question, answer]]);
      expect(output, JSON.stringify(answer)).to.contain('Nothing was revoked.');
      expect(code).to.equal(1);
    }
    expect(await state()).to.equal('active');
    const inProcess = HAS_SCRIPT ? onTerminal : typed;
    expect(await inProcess(['keys', 'revoke', id], [[question, 'y\r']])).to.include({ code: 0 });
    expect(await state()).to.equal('revoked');
    const again = await typed(['keys', 'revoke', id, '--yes']);
    expect(again.output).to.contain('is revoked').and.not.contain('[y/N]');
  });

  it('lists keys within the width of the terminal', async () => {
    const name = 'x'.repeat(100);
    await run(['keys', 'create', '--organization', 'org_a', '--name', name], { env });
    const { output } = await typed(['keys', 'list'], [], { NO_COLOR: '1' });
    const lines = output.trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(80);
    expect(output).to.contain('xxxx…').and.to.contain(' default ').and.not.contain(ESCAPE);
    expect((await run(['keys', 'list'], { env })).stdout).to.contain(name);
  });

  it('writes the log as readable lines, and as JSON elsewhere or where it is asked to', async function () {
    if (!HAS_SCRIPT) this.skip();
    const file = join(folder, 'not-a-folder');
    await writeFile(file, '');
    const failing = async (settings: Record<string, string>) => {
      const odd = { REACHLINE_DATA_DIR: file, REACHLINE_IMAGE_TAG: 'x', ...settings };
      return (await onTerminal(['serve'], [], odd)).output;
    };
    const readable = await failing({ NO_COLOR: '1' });
    expect(readable).to.match(
      /\d\d:\d\d:\d\d\.\d{3} WARN {2}Ignored, as .* {2}variables=\["REACHLINE_IMAGE_TAG"\]/,
    );
    expect(readable).to.not.contain('"level"');
    expect(await failing({ REACHLINE_LOG_FORMAT: 'json' })).to.contain('{"level":"warn","time":"2');
  });

  it('shows no character of a file, name or argument that the terminal would obey', async () => {
    const hostile = '\u001b]0;owned\u0007\u009b2J\u202e';
    const named = (name: string, content: string) => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    };
    const record = (fields: object) => JSON.stringify({ contact_id: 'esc1', ...fields });
    const raw = `{"contact_id":"esc2","${hostile}":1}\n`;
    const bad = named(`${hostile}.ndjson`, `${record({ [hostile]: 1, age: hostile })}\n${raw}{${hostile}\n`);
    const good = named('escapes.ndjson', record({ first_name: `a${hostile}b`, job_title: hostile }));
    const table = named('escapes.csv', `${hostile},contact_id\n${hostile},x\n`);
    const corrections = named(`${hostile}.corrected`, 'no line\n');
    const of = ['--organization', 'org_esc'];
    const commands = [
      ['ingest', 'contacts', good, ...of],
      ['ingest', 'contacts', bad, good, ...of],
      ['ingest', 'contacts', table, '--dry-run', ...of],
      ['ingest', 'contacts', bad, '--dry-run', ...of],
      ['ingest', 'contacts', good, '--map', hostile, ...of],
      ['ingest', 'contacts', join(folder, hostile), ...of],
      ['ingest', hostile, good],
      ['mapping', 'draft', '--stream', 'contacts', table],
      ['export', 'contacts', ...of],
      ['export', 'contacts', '--format', 'csv', ...of],
      ['export', 'contacts', '--filter', hostile, ...of],
      ['export', 'contacts', '--out', join(folder, hostile, hostile), ...of],
      ['audiences', 'create', '--name', hostile, ...of],
      ['audiences', 'list', '--json', ...of],
      ['keys', 'create', '--name', hostile, ...of],
      ['keys', 'list', ...of],
      ['keys', 'revoke', hostile],
      ['dead-letters', 'replay', '--corrected', corrections],
      ['backup', join(bad, hostile)],
      ['restore', bad],
      ['schema', hostile],
      [hostile],
      [`--${hostile}`],
    ];
    let shown = 0;
    for (const args of commands) {
      const { output } = await typed(args, [], { REACHLINE_LOG_LEVEL: 'debug' });
      const ours = output.replace(PROGRESS_AND_COLOURS, '');
      expect(ours, args.join(' ')).not.to.match(/[\p{Cc}\p{Cf}]/u);
      if (output.includes('\\u009b2J')) shown++;
    }
    expect(shown).to.be.greaterThan(commands.length / 2);
  });

  it('shows the rate and the time left of a load', async () => {
    const file = join(folder, 'many.ndjson');
    const line = (n: number) => JSON.stringify({ id: `v${n}`, createdAt: '2026-01-01T00:00:00Z' });
    await writeFile(file, Array.from({ length: 5000 }, (_, n) => line(n)).join('\n'));
    const { code, output } = await typed(['ingest', 'website-visits', file, '--organization', 'org_a']);
    expect(code, output).to.equal(0);
    expect(output).to.match(/% \w+ left [\d ]+ records, [\d ]+\/s/);
  });
});
