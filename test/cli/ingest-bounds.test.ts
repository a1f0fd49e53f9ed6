import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { compileMapping } from '../../ingest/mapping/compile.js';
import { STREAMS } from '../../ingest/streams/index.js';
import { findFiles } from '../../services/cli/ingest/files.js';
import { readTable } from '../../services/cli/ingest/mapped-input.js';
import type { Io } from '../../services/cli/io.js';
import { temporaryFolder } from '../support/gateway.js';

const io = { env: {}, stderr: { write: () => true } } as unknown as Io;

describe('The input of a command', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  before(async () => {
    folder = await temporaryFolder();
    for (const name of ['a', 'b']) {
      mkdirSync(join(folder.path, name));
      for (const file of ['1.csv', '2.csv', '3.txt'])
        writeFileSync(join(folder.path, name, file), 'id\n1\n2\n');
    }
  });
  after(() => folder.remove());

  it('has a bound of files, and of those that a folder or pattern looks through', () => {
    const find = (path: string, files: number, found: number) => () =>
      findFiles(io, [path], { files, found });
    const pattern = join(folder.path, '*', '1.csv');
    expect(find(pattern, 2, 6)()).to.have.length(2);
    expect(find(pattern, 1, 6)).to.throw('2 files are named; load at most 1 with one command.');
    expect(find(pattern, 2, 5)).to.throw('More than 5 files lie below');
    expect(find(folder.path, 6, 5)).to.throw('More than 5 files lie below');
  });

  it('has a bound of different rows that it joins', async () => {
    const table = join(folder.path, 'a', '1.csv');
    const join_ = { groups: { table: 'groups', on: 'id', key: 'id' } };
    const { joins } = compileMapping({ fields: { name: 'groups.name' }, join: join_ }, STREAMS.audiences);
    const read = (most: number) => readTable(io, table, joins.groups as never, false, most);
    expect((await read(2)).size).to.equal(2);
    const error = await read(1).catch((reason: Error) => reason);
    expect(error)
      .to.include({ name: 'CommandError' })
      .and.property('message')
      .contain('more than 1 different rows of groups');
  });
});
