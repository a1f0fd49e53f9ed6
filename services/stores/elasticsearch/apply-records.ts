import { PartialWriteError, RecordRejectedError } from '../../shared/store-errors.js';
import type { Documents, VersionedDocument } from './documents.js';
import { retryWithBackoff } from './retry.js';

/** The records of one document, in their order. */
interface Group<Record> {
  id: string;
  routing: string;
  records: Record[];
}

export interface ApplyOptions<Source, State, Record> {
  /** Reads what `apply` needs; called once, when the writes of earlier calls are done. */
  prepare?(): Promise<void>;
  idOf(record: Record): string;
  routingOf(record: Record): string;
  /** What records are applied to, from a stored document. */
  fromSource(source: Source): State;
  /** The state after the record; null when the record changes nothing. Throws `RecordRejectedError` when it breaks a rule. */
  apply(before: State | undefined, record: Record): State | null;
  /** The document to index. */
  toDocument(state: State): object;
  /** Reads the documents before the first attempt, where a missing one is not to be written. */
  readsFirst?: boolean;
}

/**
 * Applies stream records in order, also after those of earlier calls. New documents are written without a read; those in
 * conflict are read, changed and written again until none is left. Throws `PartialWriteError` once all other records are
 * written, and `StoreTimeoutError` as `retryWithBackoff`.
 */
export async function applyRecords<Source, State, Record>(
  documents: Documents<Source>,
  records: readonly Record[],
  options: ApplyOptions<Source, State, Record>,
): Promise<void> {
  const groups = groupById(records, options);
  const ids = groups.map(({ id }) => id);
  const rejections = await documents.keyedMutex.runExclusive(ids, async () => {
    await options.prepare?.();
    return applyGroups(documents, groups, options);
  });
  if (rejections.size === 0) return;
  const indices = new Map(records.map((record, index) => [record, index]));
  throw new PartialWriteError(
    new Map([...rejections].map(([record, rejection]) => [indices.get(record) as number, rejection])),
  );
}

async function applyGroups<Source, State, Record>(
  documents: Documents<Source>,
  groups: Group<Record>[],
  { fromSource, apply, toDocument, readsFirst = false }: ApplyOptions<Source, State, Record>,
): Promise<Map<Record, RecordRejectedError>> {
  const rejections = new Map<Record, RecordRejectedError>();
  /** The document may have changed since the record was tried before. */
  const applyOrReject = (state: State | undefined, record: Record) => {
    rejections.delete(record);
    try {
      return apply(state, record);
    } catch (error) {
      if (!(error instanceof RecordRejectedError)) throw error;
      rejections.set(record, error);
      return null;
    }
  };
  let pending = groups;
  let reads = readsFirst;
  return retryWithBackoff(async () => {
    const found: Map<string, VersionedDocument<Source>> = reads
      ? await documents.getMany(pending)
      : new Map();
    reads = true;
    const changes = pending.flatMap(({ id, routing, records: own }) => {
      const before = found.get(id);
      const stored = before && fromSource(before.source);
      let state = stored;
      for (const record of own) state = applyOrReject(state, record) ?? state;
      if (state === undefined || state === stored) return [];
      const after = state;
      return [{ id, routing, before, json: () => JSON.stringify(toDocument(after)) }];
    });
    const conflicts = await documents.writeMany(changes);
    pending = pending.filter(({ id }) => conflicts.has(id));
    return pending.length === 0 ? rejections : undefined;
  });
}

function groupById<Record>(
  records: readonly Record[],
  { idOf, routingOf }: Pick<ApplyOptions<never, never, Record>, 'idOf' | 'routingOf'>,
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
