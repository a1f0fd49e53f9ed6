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
  /** What records are applied to, from a stored document. */
  fromSource(source: Source): State;
  /** The state after the record; null when the record changes nothing. Throws `RecordRejectedError` when it breaks a rule. */
  apply(before: State | undefined, record: Record): State | null;
  /** The document to index. */
  toDocument(state: State): object;
  screen?: Screen<State, Record>;
}

/**
 * Keeps states out that another process may forbid at any time, once and for all. Asked before a write, and again after it: either the
 * state was there when that process looked for it, or it is found forbidden here.
 */
export interface Screen<State, Record> {
  /** The ids of documents whose state is forbidden. */
  forbidden(states: ReadonlyMap<string, State>): Promise<ReadonlySet<string>>;
  /** Why records that lead to a forbidden state are rejected. */
  rejection(): RecordRejectedError;
  /** What takes the place of a forbidden state that is stored; null where it says nothing. */
  removed(stored: State, record: Record): State | null;
}

/**
 * Applies stream records in order, also after those of earlier calls. Documents in conflict with another write are read, changed and
 * written again until none is left. Throws `PartialWriteError` once all other records are
 * written, and `StoreTimeoutError` as `retryWithBackoff`.
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
  { fromSource, apply, toDocument, screen }: ApplyOptions<Source, State, Record>,
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
  return retryWithBackoff(async () => {
    const found = await documents.getMany(pending);
    const results = pending.map((group) => {
      const before = found.get(group.id);
      const stored = before && fromSource(before.source);
      let state = stored;
      for (const record of group.records) state = applyOrReject(state, record) ?? state;
      return { ...group, before, stored, state };
    });
    const forbidden = await screen?.forbidden(statesOf(results, ({ state }) => state));
    if (screen && forbidden?.size) {
      const rejected = results.filter(({ id }) => forbidden.has(id));
      const erased = await screen.forbidden(statesOf(rejected, ({ stored }) => stored));
      for (const result of rejected) {
        for (const record of result.records) rejections.set(record, screen.rejection());
        const { stored } = result;
        result.state = stored;
        if (stored === undefined || !erased.has(result.id)) continue;
        result.state = screen.removed(stored, result.records.at(-1) as Record) ?? stored;
      }
    }
    const changed = results.filter(({ state, stored }) => state !== undefined && state !== stored);
    const conflicts = await documents.writeMany(
      changed.map(({ id, routing, before, state }) => ({
        id,
        routing,
        before,
        json: () => JSON.stringify(toDocument(state as State)),
      })),
    );
    const written = changed.filter(({ id }) => !conflicts.has(id) && !forbidden?.has(id));
    const late = await screen?.forbidden(statesOf(written, ({ state }) => state));
    pending = pending.filter(({ id }) => conflicts.has(id) || late?.has(id));
    return pending.length === 0 ? rejections : undefined;
  });
}

function statesOf<State, Result extends { id: string }>(
  results: readonly Result[],
  stateOf: (result: Result) => State | undefined,
): Map<string, State> {
  const states = new Map<string, State>();
  for (const result of results) {
    const state = stateOf(result);
    if (state !== undefined) states.set(result.id, state);
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
