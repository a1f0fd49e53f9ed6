import { PartialWriteError, RecordRejectedError } from '../../shared/store-errors.js';
import type { Documents, VersionedDocument } from './documents.js';
import { retryWithBackoff } from './retry.js';

/** The records of one document, in their order. */
interface Group<Record> {
  id: string;
  routing: string;
  records: Record[];
}

export interface Applied<Source, Record> {
  idOf(record: Record): string;
  routingOf(record: Record): string;
  /** The source after the record; null when the record changes nothing. Throws `RecordRejectedError` when it breaks a rule. */
  apply(before: Source | undefined, record: Record): Source | null;
  toDocument(source: Source): object;
}

/**
 * Applies stream records in order, also after those of earlier calls. New documents are written without being looked for
 * first; those that turn out to be there are read and changed, and only those that someone else changed meanwhile are
 * read and changed again, for a bounded time. Throws `PartialWriteError` once all others are written, and `StoreTimeoutError` when the
 * time is over.
 */
export async function applyRecords<Source, Record>(
  documents: Documents<Source>,
  records: readonly Record[],
  applied: Applied<Source, Record>,
): Promise<void> {
  const groups = groupById(records, applied);
  const ids = groups.map(({ id }) => id);
  const refusals = await documents.keyedMutex.runExclusive(ids, () =>
    applyGroups(documents, groups, applied),
  );
  if (refusals.size === 0) return;
  const indices = new Map(records.map((record, index) => [record, index]));
  throw new PartialWriteError(
    new Map([...refusals].map(([record, refusal]) => [indices.get(record) as number, refusal])),
  );
}

async function applyGroups<Source, Record>(
  documents: Documents<Source>,
  groups: Group<Record>[],
  { apply, toDocument }: Applied<Source, Record>,
): Promise<Map<Record, RecordRejectedError>> {
  const refusals = new Map<Record, RecordRejectedError>();
  /** The document may have changed since the record was tried before. */
  const applyOrRefuse = (source: Source | undefined, record: Record) => {
    refusals.delete(record);
    try {
      return apply(source, record);
    } catch (error) {
      if (!(error instanceof RecordRejectedError)) throw error;
      refusals.set(record, error);
      return null;
    }
  };
  let open = groups;
  let looks = false;
  return retryWithBackoff(async () => {
    const found: Map<string, VersionedDocument<Source>> = looks ? await documents.getMany(open) : new Map();
    looks = true;
    const changes = open.flatMap(({ id, routing, records: own }) => {
      const before = found.get(id);
      let source: Source | undefined = before?.source;
      for (const record of own) source = applyOrRefuse(source, record) ?? source;
      if (source === undefined || source === before?.source) return [];
      const after = source;
      return [{ id, routing, before, document: () => toDocument(after) }];
    });
    const conflicts = await documents.writeMany(changes);
    open = open.filter(({ id }) => conflicts.has(id));
    return open.length === 0 ? refusals : undefined;
  });
}

function groupById<Record>(
  records: readonly Record[],
  { idOf, routingOf }: Pick<Applied<never, Record>, 'idOf' | 'routingOf'>,
): Group<Record>[] {
  const groups = new Map<string, Group<Record>>();
  for (const record of records) {
    const id = idOf(record);
    const group = groups.get(id);
    if (group) group.records.push(record);
    else groups.set(id, { id, routing: routingOf(record), records: [record] });
  }
  return [...groups.values()];
}
