import { createAudience } from '../../audiences/endpoints.js';
import { runAdminOperation } from '../admin-operation.js';
import { withAdminStore } from '../admin-stores.js';
import { UsageError } from '../errors.js';
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
export async function create(io: Io, options: CreateAudienceOptions): Promise<void> {
  const { organization, id, name, description } = options;
  const created = await runAdminOperation(io, createAudience, organization, { id, name, description });
  printOut(io, String(created.audience_id));
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
