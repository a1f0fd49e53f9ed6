import { Readable } from 'node:stream';
import { expect } from 'chai';
import {
  MAX_MEMORY_BYTES,
  replayable,
  TemporaryFileError,
  TemporarySpace,
} from '../../ingest/sources/replayable.js';

describe('The space of temporary files', () => {
  const body = () => Readable.from([Buffer.alloc(MAX_MEMORY_BYTES), Buffer.alloc(1000)]);

  it('is shared by all that are open, and free again once they are closed', async () => {
    const space = new TemporarySpace(MAX_MEMORY_BYTES + 1500);
    const first = await replayable(body(), space);
    const error = await replayable(body(), space).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(TemporaryFileError);
    await first.close();
    await first.close();
    for (let turn = 0; turn < 3; turn++) await (await replayable(body(), space)).close();
    const small = await replayable(Readable.from([Buffer.alloc(10)]), new TemporarySpace(0));
    expect(small.location()).to.have.property('bytes');
  });
});
