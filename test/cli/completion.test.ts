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

const EXPECTED: [words: string, offered: string[]][] = [
  ['reachline ke', ['keys']],
  ['reachline keys ', ['create', 'list', 'revoke']],
  ['reachline keys create --or', ['--organization']],
  ['reachline ingest network-a-c', ['network-a-campaigns', 'network-a-companies', 'network-a-creatives']],
  ['reachline ingest audiences file --format ', ['csv', 'json', 'ndjson']],
  ['reachline dead-letters list --stream website', ['website-visits']],
  ['reachline completion z', ['zsh']],
];

describe('reachline completion', function () {
  this.timeout(60_000);
  let folder: string;
  before(async () => {
    folder = tempFolder();
    const command = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`;
    await writeFile(join(folder, 'reachline'), command, { mode: 0o755 });
  });

  for (const [shell, ask] of Object.entries(ASK)) {
    it(`completes commands, options, streams and formats in ${shell}`, async function () {
      try {
        execFileSync(shell, ['--version'], { stdio: 'ignore' });
      } catch {
        this.skip();
      }
      const { code, stdout } = await run(['completion', shell]);
      expect(code).to.equal(0);
      const script = join(folder, shell);
      await writeFile(script, stdout);
      for (const [line, offered] of EXPECTED) {
        const PATH = `${folder}:${process.env.PATH}`;
        const env = { ...process.env, HOME: folder, PATH };
        const answer = execFileSync(shell, ask(script, line.split(' ')), { encoding: 'utf8', env });
        expect(answer.split('\n').filter(Boolean).sort(), `${shell}: ${line}`).to.deep.equal(offered);
      }
    });
  }

  it('knows every stream', async () => {
    const { stdout } = await run(['completion', 'bash', '--', 'ingest', '']);
    expect(stdout.trim().split('\n').sort()).to.deep.equal([...STREAM_NAMES].sort());
  });

  it('offers nothing where a file is named, and a description of each word in fish', async () => {
    expect(await run(['completion', 'bash', '--', 'ingest', 'contacts', ''])).to.include({ stdout: '' });
    expect(await run(['completion', 'bash', '--', 'export', '--out', ''])).to.include({ stdout: '' });
    const { stdout } = await run(['completion', 'fish', '--', 'keys', 'rev']);
    expect(stdout).to.equal('revoke\trevoke a key within 5 seconds, in every process\n');
  });
});
