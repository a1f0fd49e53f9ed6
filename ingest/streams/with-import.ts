import type { ContactRecord } from '../../services/contacts/schema.js';
import type { Stream } from './stream.js';

export interface ImportOptions {
  /** Import that creates the contacts. */
  importId?: string | undefined;
  /** Audience that the contacts join. */
  audienceId?: string | undefined;
}

/** The stream of contacts, whose records get the import and the audience of the request. */
export function withImport(stream: Stream, { importId, audienceId }: ImportOptions): Stream {
  if (importId === undefined && audienceId === undefined) return stream;
  return {
    ...stream,
    normalize(record) {
      stream.normalize?.(record);
      const contact = record as ContactRecord;
      if (importId !== undefined) {
        contact.import_id = importId;
        // Otherwise, a contact that exists would move to the import that its row names.
        delete contact.data_import_id;
      }
      if (audienceId !== undefined) {
        contact.audience_ids = [...new Set([...(contact.audience_ids ?? []), audienceId])];
      }
    },
  };
}
