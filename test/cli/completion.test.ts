import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { STREAM_NAMES } from '../../ingest/streams/index.js';
import { tempFolder } from '../support/temp-folder.js';
import { MAIN, run } from './support.js';

/** Prints what each shell offers for the words of a command line, the last of which is being typed. */
const ASK: Record<string, (script: string, words: string[]) => string[]> = {
  bash: (script, words) => [
    '-c',
    `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reachline; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    ...words,
  ],
  zsh: (script, words) => [
    '-fc',
    `compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- $@ | grep -e "^\${words[CURRENT]}"; }
     source ${script}; words=("$@"); CURRENT=$#; _reachline; true`,
    'zsh',
    ...words,
  ],
  fish: (script, words) => [
    '-Nc',
    `source ${script}; complete -C "${words.join(' ')}" | string replace -r '\\t.*' ''; true`,
  ],
};

const EXPECTED: [line: string, offered: readonly string[]][] = [
  ['ke', ['keys']],
  ['keys ', ['create', 'list', 'revoke']],
  ['keys create --or', ['--organization']],
  ['ingest ', [...STREAM_NAMES].sort()],
  ['ingest network-a-c', ['network-a-campaigns', 'network-a-companies', 'network-a-creatives']],
  ['ingest audiences file --format ', ['csv', 'json', 'ndjson', 'xlsx']],
  ['dead-letters list --stream website', ['website-visits']],
  ['completion z', ['zsh']],
];

describe('reachline completion', function () {
  this.timeout(60_000);
  let folder: string;
  before(async () => {
    folder = tempFolder();
    const command = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`;
    await writeFile(join(folder, 'reachline'), command, { mode: 0o755 });
  });

  it('offers commands, options, streams and formats', async () => {
    for (const [line, offered] of EXPECTED) {
      const { code, stdout } = await run(['completion', 'zsh', '--', ...line.split(' ')]);
      expect(code).to.equal(0);
      expect(stdout.split('\n').filter(Boolean).sort(), line).to.deep.equal(offered);
    }
  });

  for (const [shell, ask] of Object.entries(ASK)) {
    it(`asks for what completes a line in ${shell}`, async function () {
      try {
        execFileSync(shell, ['--version'], { stdio: 'ignore' });
      } catch {
        this.skip();
      }
      const script = join(folder, shell);
      await writeFile(script, (await run(['completion', shell])).stdout);
      const env = { ...process.env, HOME: folder, PATH: `${folder}:${process.env.PATH}` };
      const words = ['reachline', 'ingest', 'audiences', 'file', '--format', ''];
      const answer = execFileSync(shell, ask(script, words), { encoding: 'utf8', env });
      expect(answer.split('\n').filter(Boolean).sort()).to.deep.equal(['csv', 'json', 'ndjson', 'xlsx']);
    });
  }

  it('offers nothing where a file is named, and a description of each word in fish', async () => {
    expect(await run(['completion', 'bash', '--', 'ingest', 'contacts', ''])).to.include({ stdout: '' });
    expect(await run(['completion', 'bash', '--', 'export', '--out', ''])).to.include({ stdout: '' });
    const { stdout } = await run(['completion', 'fish', '--', 'keys', 'rev']);
    expect(stdout).to.equal('revoke\trevoke a key; every process rejects it within 5 seconds\n');
  });
});
