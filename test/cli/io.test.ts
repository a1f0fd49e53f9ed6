import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { printErr, printOut, printTable } from '../../services/cli/io.js';

const HOSTILE = '\x1b]0;owned\x07 \x9b2J \u202egnp.exe\u2028line\u{e0041}\x7f';
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const io = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: {} };

describe('What is printed to a terminal', () => {
  it('holds no character of a table that the terminal would obey', () => {
    const stdout = new PassThrough();
    printTable({ ...io, stdout }, ['POINTER'], [[HOSTILE]]);
    const [heading, row, ...rest] = String(stdout.read()).split('\n');
    expect(heading).to.equal('POINTER');
    expect(row).not.to.match(OBEYED);
    expect(rest).to.deep.equal(['']);
  });

  it('is JSON that means the same, with such characters escaped', () => {
    const stdout = new PassThrough();
    printOut({ ...io, stdout }, JSON.stringify({ pointer: HOSTILE }));
    const text = String(stdout.read());
    expect(text.trimEnd()).not.to.match(OBEYED);
    expect(JSON.parse(text)).to.deep.equal({ pointer: HOSTILE });
  });

  it('has no colours but those of the command line, and keeps its lines', () => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true });
    printErr({ ...io, stderr }, `two\n${HOSTILE}`, 'red');
    const [first, second, end] = String(stderr.read()).split('\n');
    expect(first).to.equal('\u001b[31mtwo');
    expect(second?.replace('\u001b[39m', '')).not.to.match(OBEYED);
    expect(end).to.equal('');
  });
});
