/** The newest imports of contacts. */
import type { ResponseOf } from '../api.js';
import { Empty, NoPermission, Trouble } from '../components/states.js';
import { FigureTable } from '../components/table.js';
import { UndoImportButton } from '../components/undo-import.js';
import { count, minute } from '../format.js';
import { href } from '../router.js';
import { missingScope } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';

type Import = ResponseOf<'/api/imports/list'>['imports'][number];

export function Imports() {
  const scope = missingScope('contacts:read');
  if (scope) return <NoPermission scope={scope} what="imports" />;
  return <ImportList />;
}

function ImportList() {
  const answer = useRequest('/api/imports/list', {});
  const imports = shownOf(answer)?.data.imports;
  return (
    <div class="view import">
      <div class="toolbar">
        <h1>Imports of contacts</h1>
        <a class="button" href={href('/import')}>
          Import a file
        </a>
      </div>
      <Trouble answer={answer} />
      {imports?.length === 0 && (
        <Empty>
          <p>No import has contacts.</p>
        </Empty>
      )}
      {imports?.length !== 0 && (
        <section>
          <FigureTable
            label="Imports"
            columns={[
              {
                label: 'Import',
                cell: ({ import_id: id }: Import) => (
                  <a href={href('/contacts', { data_import_id: id })}>{id}</a>
                ),
              },
              { label: 'Contacts', cell: ({ contacts_count }) => count(contacts_count) },
              {
                label: 'Undo',
                cell: ({ import_id: id, unchanged_count }) =>
                  unchanged_count === 0 ? '' : <UndoImportButton importId={id} />,
              },
              { label: 'When (UTC)', cell: ({ imported_at }) => minute(imported_at) },
              { label: 'Unchanged', cell: ({ unchanged_count }) => count(unchanged_count) },
            ]}
            rows={imports}
            keyOf={({ import_id }) => import_id}
          />
          <p class="note">
            Undo deletes the unchanged contacts: those that the import created and that nobody has changed
            since.
          </p>
        </section>
      )}
    </div>
  );
}
