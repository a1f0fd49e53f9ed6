import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { printTable, terminalJson } from '../../services/cli/io.js';

const HOSTILE = '\x1b]0;owned\x07 \x9b2J \u202egnp.exe\u2028line\u{e0041}\x7f';
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('What is printed to a terminal', () => {
  it('holds no character of a table that the terminal would obey', () => {
    const stdout = new PassThrough();
    printTable({ stdin: process.stdin, stdout, stderr: process.stderr, env: {} }, ['POINTER'], [[HOSTILE]]);
    const [heading, row, ...rest] = String(stdout.read()).split('\n');
    expect(heading).to.equal('POINTER');
    expect(row).not.to.match(OBEYED);
    expect(rest).to.deep.equal(['']);
  });

  it('is JSON that means the same, with such characters escaped', () => {
    const text = terminalJson({ pointer: HOSTILE });
    expect(text).not.to.match(OBEYED);
    expect(JSON.parse(text)).to.deep.equal({ pointer: HOSTILE });
  });
});
