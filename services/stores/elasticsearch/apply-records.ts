import { PartialWriteError, RecordRejectedError } from '../../shared/store-errors.js';
import type { Documents } from './documents.js';
import { retryWithBackoff } from './retry.js';

/** The records of one document, in their order. */
interface Group<Record> {
  id: string;
  routing: string;
  records: Record[];
}

export interface ApplyOptions<Source, State, Record> {
  idOf(record: Record): string;
  routingOf(record: Record): string;
  /** State of a stored document, to which records are applied. */
  fromSource(source: Source): State;
  /** The state after the record; null if the record changes nothing. Throws `RecordRejectedError` if the record violates a rule. */
  apply(before: State | undefined, record: Record): State | null;
  /** The document to index. */
  toDocument(state: State): object;
  suppression?: SuppressionCheck<State, Record>;
}

/**
 * Rejects states that another process, such as an erasure, may forbid permanently at any time. Called before and after each write, with the
 * states before and after the change: either the other process finds the document, or this process undoes the change. A change that removes
 * the forbidden data would hide the document from the other process, so this change is rejected too.
 */
export interface SuppressionCheck<State, Record> {
  /** The ids of documents that have a forbidden state. */
  forbidden(states: ReadonlyMap<string, readonly State[]>): Promise<ReadonlySet<string>>;
  /** The error with which records of such documents are rejected. */
  rejection(): RecordRejectedError;
  /** Selects, from documents with a forbidden state, those that the forbidding process will still handle. */
  awaited(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** The state that replaces a forbidden state which no other process will remove; null to keep the forbidden state. */
  removed(stored: State, record: Record): State | null;
}

/**
 * Applies stream records in order, also with respect to earlier calls. If another write changed a document, the document is read, changed
 * and written again until the write succeeds. Throws `PartialWriteError` once all other records are written, and `StoreTimeoutError` like
 * `retryWithBackoff`.
 */
export async function applyRecords<Source, State, Record>(
  documents: Documents<Source>,
  records: readonly Record[],
  options: ApplyOptions<Source, State, Record>,
): Promise<void> {
  const groups = groupById(records, options);
  const ids = groups.map(({ id }) => id);
  const rejections = await documents.keyedMutex.runExclusive(ids, () =>
    applyGroups(documents, groups, options),
  );
  if (rejections.size === 0) return;
  const indices = new Map(records.map((record, index) => [record, index]));
  throw new PartialWriteError(
    new Map([...rejections].map(([record, rejection]) => [indices.get(record) as number, rejection])),
  );
}

async function applyGroups<Source, State, Record>(
  documents: Documents<Source>,
  groups: Group<Record>[],
  { fromSource, apply, toDocument, suppression }: ApplyOptions<Source, State, Record>,
): Promise<Map<Record, RecordRejectedError>> {
  const rejections = new Map<Record, RecordRejectedError>();
  /** The document may have changed since the last attempt with this record. */
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
  /** Writes of this call that must be undone. */
  const undo = new Map<string, { stored: State | undefined; json: string; wasErased: boolean }>();
  let pending = groups;
  return retryWithBackoff(async () => {
    const found = await documents.getMany(pending);
    const results = pending.map((group) => {
      const before = found.get(group.id);
      const stored = before && fromSource(before.source);
      let state = stored;
      for (const record of group.records) state = applyOrReject(state, record) ?? state;
      return { ...group, before, stored, state };
    });
    const forbidden = new Set([...((await suppression?.forbidden(statesOf(results))) ?? []), ...undo.keys()]);
    if (suppression && forbidden.size > 0) {
      const rejected = results.filter(({ id }) => forbidden.has(id));
      const erased = await suppression.forbidden(statesOf(rejected, ({ stored }) => [stored]));
      const awaited = await suppression.awaited([...erased]);
      for (const result of rejected) {
        const { id, stored, records } = result;
        for (const record of records) rejections.set(record, suppression.rejection());
        result.state = stored;
        if (stored === undefined) continue;
        const removed = () => suppression.removed(stored, records.at(-1) as Record) ?? stored;
        const written = undo.get(id);
        if (written) {
          // The stored document lacks fields that are only indexed.
          const isOurs = JSON.stringify(toDocument(stored)) === written.json;
          if (isOurs) result.state = written.stored ?? removed();
          // Another write came after ours, so no other process can tell that the state belongs to an erased person.
          else if (written.wasErased) result.state = removed();
        } else if (erased.has(id) && !awaited.has(id)) result.state = removed();
      }
    }
    const changed = results.flatMap(({ state, ...result }) =>
      state === undefined || state === result.stored
        ? []
        : [{ ...result, state, json: JSON.stringify(toDocument(state)) }],
    );
    const conflicts = await documents.writeMany(
      changed.map(({ id, routing, before, json }) => ({ id, routing, before, json: () => json })),
    );
    for (const { id } of results) if (!conflicts.has(id)) undo.delete(id);
    const written = changed.filter(({ id }) => !conflicts.has(id) && !forbidden.has(id));
    const late = await suppression?.forbidden(statesOf(written));
    if (suppression && late?.size) {
      const taken = written.filter(({ id }) => late.has(id));
      const erased = await suppression.forbidden(statesOf(taken, ({ stored }) => [stored]));
      for (const { id, stored, json } of taken) undo.set(id, { stored, json, wasErased: erased.has(id) });
    }
    pending = pending.filter(({ id }) => conflicts.has(id) || late?.has(id));
    return pending.length === 0 ? rejections : undefined;
  });
}

/** Collects states per document; by default, the states before and after each change. */
function statesOf<State, Result extends { id: string; stored?: State; state?: State }>(
  results: readonly Result[],
  statesIn: (result: Result) => readonly (State | undefined)[] = ({ stored, state }) => [stored, state],
): Map<string, State[]> {
  const states = new Map<string, State[]>();
  for (const result of results) {
    const known = new Set(statesIn(result).flatMap((state) => (state === undefined ? [] : [state])));
    if (known.size > 0) states.set(result.id, [...known]);
  }
  return states;
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
