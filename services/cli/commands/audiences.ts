import type { AudienceRecord } from '../../audiences/schema.js';
import { newId } from '../../shared/ids.js';
import type { OrderedRecord } from '../../shared/record-order.js';
import { withAdminStore } from '../admin-stores.js';
import { requireId } from '../arguments.js';
import { CommandError, UsageError } from '../errors.js';
import { type Io, printOut } from '../io.js';

export interface CreateAudienceOptions {
  organization: string;
  name: string;
  id?: string;
  description?: string;
}

/** Prints the id alone. An audience that exists is left as it is. */
export async function createAudience(io: Io, options: CreateAudienceOptions): Promise<void> {
  requireId('--organization', options.organization);
  if (options.id !== undefined) requireId('--id', options.id);
  const audience = await checked({
    organization_id: options.organization,
    id: options.id ?? newId('aud'),
    name: options.name,
    description: options.description,
  });
  await withAdminStore(io, async (store) => {
    if ((await store.getAudience(audience.record.organization_id, audience.record.id)) !== null) {
      throw new CommandError(`The audience ${audience.record.id} exists already.`);
    }
    await store.upsertAudiences([audience]);
    await store.refresh();
  });
  printOut(io, audience.record.id);
}

/** By the rules of the stream. */
async function checked(value: object): Promise<OrderedRecord<AudienceRecord>> {
  const { decoder } = await import('../../../ingest/decode.js');
  const { STREAMS } = await import('../../../ingest/streams/index.js');
  const decode = decoder(STREAMS.audiences, { others: 'allow' });
  const outcome = decode({ line: 1, bytes: Buffer.alloc(0), value }, Date.now(), 0);
  if (outcome.kind !== 'ok') throw new UsageError(outcome.detail);
  return outcome as OrderedRecord<AudienceRecord>;
}
