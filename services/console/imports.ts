/** Imports of contacts: their ids, and how to undo them. */
import type { ResponseOf } from './api.js';
import { count, plural } from './format.js';
import { failureNotice, type Notice } from './notice.js';
import type { Session } from './session.js';

/** An id that names the file and the time, so that the list of imports says what each import was. */
export function newImportId(fileName: string): string {
  const name = fileName
    .replace(/\.\w+$/, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .split(/[^A-Za-z0-9._]/)
    .filter((part) => part !== '')
    .join('-')
    .slice(0, 60);
  const time = new Date().toISOString().slice(0, 16).replace(':', '');
  return `${name || 'import'}-${time}-${Math.random().toString(36).slice(2, 6)}`;
}

/** Deletes what an import created and nobody has changed since, as a job. */
export function undoImport(session: Session, importId: string): Promise<Notice> {
  return session.work(`Undoing ${importId}`, async ({ signal, progress }) => {
    let deleted = 0;
    let left = 0;
    let cursor: string | null = null;
    const outcome = () => {
      const stay =
        left === 1 ? 'stays, because it was changed since' : 'stay, because they were changed since';
      return `${plural(deleted, 'contact')} deleted${left > 0 ? `; ${count(left)} ${stay}` : ''}.`;
    };
    try {
      do {
        signal.throwIfAborted();
        const answer: ResponseOf<'/api/imports/undo'> = await session.call('/api/imports/undo', {
          import_id: importId,
          cursor,
        });
        deleted += answer.deleted_count;
        left += answer.left_count;
        cursor = answer.next_cursor;
        progress.value = `${plural(deleted, 'contact')} deleted`;
      } while (cursor !== null);
    } catch (error) {
      const { text } = failureNotice('its last step was done', error);
      return { text: `${text.replace(/\.$/, '')}. Before that, ${outcome()}`, isFailure: true };
    }
    return { text: outcome() };
  });
}
