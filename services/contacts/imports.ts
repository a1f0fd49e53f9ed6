/** Lists imports of contacts, and deletes what an import created (contract 6.2h). */
import { endpointsWith } from '../http/endpoint.js';
import { invalid } from '../http/problems.js';
import { readCursor, writeCursor } from '../search/cursor.js';
import {
  arrayOf,
  dateTime,
  id,
  integer,
  looseObject,
  nullable,
  optional,
  organizationId,
  strictObject,
  Type,
  text,
} from '../shared/schema.js';
import { formatTimestamp } from '../shared/time.js';
import type { ContactStore } from './contact-store.js';

interface ImportServices {
  records: Pick<ContactStore, 'listImports' | 'searchContactKeys' | 'deleteContacts'>;
}

const endpoint = endpointsWith<ImportServices>();

const CONTACTS_PER_REQUEST = 1000;

const count = (description: string) => integer(description, { minimum: 0 });

const Import = looseObject(
  {
    import_id: Type.String({ description: 'The `data_import_id` of its contacts.' }),
    imported_at: dateTime('When the newest of its contacts was accepted, UTC.'),
    contacts_count: count('Contacts of the import that exist.'),
    unchanged_count: count('Contacts that `imports/undo` deletes.'),
  },
  { $id: 'Import', description: 'The contacts that an import created.' },
);

const listImports = endpoint({
  path: '/api/imports/list',
  name: 'ListImports',
  summary: 'List imports of contacts',
  description:
    'The 100 imports that created contacts last, newest first. An import is what `import_id` of ingest or `data_import_id` of records names. An import without contacts is not listed.',
  tag: 'Ingest',
  scope: ['contacts:read'],
  request: strictObject({ organization_id: optional(organizationId) }),
  response: looseObject({
    organization_id: id('Organization of the imports.'),
    imports: arrayOf('The imports, newest first.', Import),
  }),
  example: { organization_id: 'org_demo' },
  async handle({ organizationId, services, signal }) {
    const imports = await services.records.listImports(organizationId, signal);
    return {
      organization_id: organizationId,
      imports: imports.map((each) => ({
        import_id: each.id,
        imported_at: formatTimestamp(each.acceptedMs),
        contacts_count: each.contacts,
        unchanged_count: each.unchanged,
      })),
    };
  },
});

const undoImport = endpoint({
  path: '/api/imports/undo',
  name: 'UndoImport',
  summary: 'Undo an import of contacts',
  description: `Deletes the contacts that an ingest with this \`import_id\` created, as \`contacts/delete\` does, and leaves contacts that anything else has changed since: a request, a record without this \`import_id\`, joining or leaving an audience. Contacts that existed before keep what the import changed. A request processes ${CONTACTS_PER_REQUEST} contacts: repeat it with \`cursor\` until \`next_cursor\` is null. Undoing again changes nothing. Contacts that the import creates later stay, so undo a running import again after its end. Costs no credits and returns none.`,
  tag: 'Ingest',
  scope: ['contacts:write'],
  slots: () => 4,
  request: strictObject({
    organization_id: optional(organizationId),
    import_id: text('The import.', { minLength: 1, examples: ['webinar-2026-11'] }),
    cursor: optional(
      Type.String({
        description: '`next_cursor` of the request before, for the same import.',
        maxLength: 2048,
      }),
    ),
  }),
  response: looseObject({
    organization_id: id('Organization of the import.'),
    import_id: Type.String({ description: 'The import.' }),
    deleted_count: count('Contacts that this request deleted.'),
    left_count: count('Contacts of the import that this request left, because they have changed.'),
    next_cursor: nullable(Type.String({ description: '`cursor` of the next request; null at the end.' })),
  }),
  example: { organization_id: 'org_demo', import_id: 'webinar-2026-11' },
  async handle({ operation, body, organizationId, services, signal, beginsToWrite }) {
    const { import_id: importId, cursor } = body;
    const scope = { operation, organizationId, filters: { import_id: importId } };
    const after = cursor ? readCursor(scope, cursor) : undefined;
    if (after && 'code' in after) throw invalid({ pointer: '/cursor', ...after });
    const page = await services.records.searchContactKeys(
      {
        organizationId,
        filters: [{ kind: 'value', field: 'data_import_id', values: [importId] }],
        limit: CONTACTS_PER_REQUEST,
        after,
        skipsTotal: true,
      },
      { signal },
    );
    beginsToWrite();
    const contactIds = page.items.map(({ id }) => id);
    const { deleted, kept } = await services.records.deleteContacts({
      organizationId,
      contactIds,
      ofImport: importId,
    });
    return {
      organization_id: organizationId,
      import_id: importId,
      deleted_count: deleted.length,
      left_count: kept.length,
      next_cursor: writeCursor(scope, page.next),
    };
  },
});

export const importEndpoints = [listImports, undoImport] as const;
