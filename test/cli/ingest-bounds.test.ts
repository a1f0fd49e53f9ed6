import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { compileMapping } from '../../ingest/mapping/compile.js';
import { STREAMS } from '../../ingest/streams/index.js';
import { readTable } from '../../services/cli/ingest/mapped-input.js';
import type { Io } from '../../services/cli/io.js';
import { tempFolder } from '../support/temp-folder.js';

const io = { env: {}, stderr: { write: () => true } } as unknown as Io;

describe('The input of a command', () => {
  let folder: string;
  before(async () => {
    folder = tempFolder();
    writeFileSync(join(folder, 'groups.csv'), 'id\n1\n2\n');
  });

  it('has a bound of different rows that it joins', async () => {
    const table = join(folder, 'groups.csv');
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
