import type { ResponseOf } from '../../client/client.js';
import { type GatewayOptions, withClient } from '../gateway.js';
import { confirm, formatCount, type Io, printErr, printOut, printTable } from '../io.js';

type Undone = ResponseOf<'/api/imports/undo'>;

/** Newest first. */
export async function listImports(io: Io, options: GatewayOptions & { json?: boolean }): Promise<void> {
  await withClient(io, options, ['contacts:read'], async (client) => {
    const { imports } = await client.call('/api/imports/list', {});
    if (options.json) for (const each of imports) printOut(io, JSON.stringify(each));
    else if (imports.length > 0) {
      printTable(
        io,
        ['IMPORT', 'TIME', 'CONTACTS', 'UNCHANGED'],
        imports.map((each) => [
          each.import_id,
          each.imported_at,
          formatCount(each.contacts_count),
          formatCount(each.unchanged_count),
        ]),
      );
    }
    if (imports.length === 0) printErr(io, 'No import has contacts.');
  });
}

export async function undoImport(
  io: Io,
  importId: string,
  options: GatewayOptions & { yes?: boolean },
): Promise<void> {
  await withClient(io, options, ['contacts:write'], async (client) => {
    const question = `Delete the contacts that ${importId} created and that nobody has changed since?`;
    await confirm(io, options.yes, question, 'Nothing was deleted.');
    let deleted = 0;
    let left = 0;
    let cursor: string | null = null;
    do {
      const { deleted_count, left_count, next_cursor }: Undone = await client.call('/api/imports/undo', {
        import_id: importId,
        cursor,
      });
      deleted += deleted_count;
      left += left_count;
      cursor = next_cursor;
    } while (cursor !== null);
    printOut(io, `${formatCount(deleted)} deleted, ${formatCount(left)} left because they have changed.`);
  });
}
