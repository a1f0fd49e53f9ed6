import { decoder } from '../../../ingest/decode.js';
import { STREAMS } from '../../../ingest/streams/index.js';
import type { AudienceRecord } from '../../audiences/schema.js';
import { newAudience } from '../../audiences/stored-audience.js';
import { newId } from '../../shared/ids.js';
import { withAdminStore } from '../admin-stores.js';
import { CommandError, UsageError } from '../errors.js';
import { type Io, printErr, printOut, printTable } from '../io.js';

export interface CreateAudienceOptions {
  organization: string;
  name: string;
  id?: string;
  description?: string;
}

/** Maximum page size of a search for audiences, in every store. */
const MAX_LISTED = 10_000;

/** Prints only the id. An audience that exists already stays unchanged. */
export async function createAudience(io: Io, options: CreateAudienceOptions): Promise<void> {
  const audience = checked({
    organization_id: options.organization,
    id: options.id ?? newId('aud'),
    name: options.name,
    description: options.description,
  });
  await withAdminStore(io, async (store) => {
    const result = await store.createAudience({
      audience: newAudience(audience.organization_id, audience.id, audience),
    });
    if (result.kind === 'done' && result.value.kind === 'audience_exists') {
      throw new CommandError(`The audience ${audience.id} exists already.`);
    }
  });
  printOut(io, audience.id);
}

export interface ListAudiencesOptions {
  organization: string;
  limit: number;
  json?: boolean;
}

/** Newest first. */
export async function listAudiences(
  io: Io,
  { organization, limit, json }: ListAudiencesOptions,
): Promise<void> {
  if (limit > MAX_LISTED) throw new UsageError(`--limit takes at most ${MAX_LISTED}.`);
  const { items, total } = await withAdminStore(io, (store) =>
    store.searchAudiences({ organizationId: organization, offset: 0, limit }),
  );
  if (json) for (const audience of items) printOut(io, JSON.stringify(audience));
  else if (items.length > 0) {
    printTable(
      io,
      ['ID', 'NAME', 'DESCRIPTION'],
      items.map(({ id, name, description }) => [id, name, description ?? '-']),
    );
  }
  if (total === 0) printErr(io, `${organization} has no audiences.`);
  else if (total > items.length)
    printErr(io, `${items.length} of ${total} audiences; a larger --limit shows more.`);
}

/** Returns the audience, validated by the rules of its stream. */
function checked(value: object): AudienceRecord {
  const decode = decoder(STREAMS.audiences, { others: 'allow' });
  const outcome = decode({ line: 1, bytes: Buffer.alloc(0), value }, Date.now(), 0);
  if (outcome.kind !== 'ok') throw new UsageError(outcome.detail);
  return outcome.record as AudienceRecord;
}
