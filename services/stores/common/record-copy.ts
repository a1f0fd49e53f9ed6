/**
 * The ports of the copy that SQL reads on a server: indices of the search store on one side, tables on the other. The copier in
 * services/stores/copy moves records between them.
 */

export const COPIED_KINDS = ['contacts', 'audiences', 'visits'] as const;
export type CopiedKind = (typeof COPIED_KINDS)[number];

/** Identifies a record within its organization. Ids consist of letters, digits and `. _ : -`. */
export interface RecordKey {
  id: string;
  /** Of a visit, in milliseconds since the epoch: it is unique with its moment. */
  createdMs?: number;
}

/** What an index holds, and a part of the table of its kind. */
export interface CopiedPart {
  kind: CopiedKind;
  /** Of visits, as YYYYMM; 0 for the index of all other years. */
  month: number;
}

export interface SourceIndex extends CopiedPart {
  /** The same for every generation of an index: `contacts`, `visits-2026.01`. */
  name: string;
  uuid: string;
  /** By shard, the sequence number up to which no operation is missing. */
  shards: ReadonlyMap<number, number>;
}

/** A page of a shard, in the order of sequence numbers. */
export interface ChangedRecords {
  /** As JSON, one per line, as the API answers them. */
  lines: string[];
  /** Records that left a tombstone. */
  deleted: (RecordKey & { organizationId: string })[];
  /** The last sequence number of the page. */
  seqNo: number;
}

/** An index as it is at one moment. Close it. */
export interface IndexSnapshot {
  /** What changed in a shard after a sequence number. */
  changes(shard: number, after: number): AsyncIterable<ChangedRecords>;
  /** The number of records by organization. */
  counts(): Promise<Map<string, number>>;
  /** Keys of an organization, ascending: by moment, then by id. Only after `counts`. */
  keys(organizationId: string): AsyncIterable<RecordKey[]>;
  close(): Promise<void>;
}

/** One process at a time writes the copy. */
export interface CopyLease {
  /** Throws `LeaseLostError`. */
  throwIfLost(): void;
  release(): Promise<void>;
}

/** Throws `StoreUnavailableError` and `StoreTimeoutError`. */
export interface RecordSource {
  indices(): Promise<SourceIndex[]>;
  /** Holds every operation up to the sequence numbers of the index. */
  open(index: SourceIndex): Promise<IndexSnapshot>;
  /** Null while another process holds it, or may still have an insert on its way. */
  acquireLease(): Promise<CopyLease | null>;
}

/** How far a shard is copied. */
export interface CopiedShard {
  /** Name of the index. */
  source: string;
  shard: number;
  uuid: string;
  seqNo: number;
  /** Up to here, index and copy were found to hold the same records. */
  comparedSeqNo: number;
  /** Of the rows that were written last. */
  version: number;
}

/** Rows of a greater version replace those with the same key. Throws `StoreUnavailableError` and `StoreTimeoutError`. */
export interface RecordCopy {
  shards(): Promise<CopiedShard[]>;
  saveShards(shards: readonly CopiedShard[]): Promise<void>;
  insert(part: CopiedPart, version: number, lines: readonly string[]): Promise<void>;
  delete(part: CopiedPart, version: number, keys: ChangedRecords['deleted']): Promise<void>;
  counts(part: CopiedPart): Promise<Map<string, number>>;
  /** As of a snapshot. */
  keys(part: CopiedPart, organizationId: string): AsyncIterable<RecordKey[]>;
  /** Removes the visits of a month. */
  dropMonth(month: number): Promise<void>;
  /** Organizations with rows that hide deleted records, whose former rows are still stored. */
  organizationsToPurge(kind: CopiedKind): Promise<string[]>;
  /**
   * Removes the rows that newer ones hide, and those of deleted records. Resolves with whether they are gone, also from parts that
   * others have replaced; call it again until then, as it waits no longer than `timeoutMs`.
   */
  purge(kind: CopiedKind, organizationIds: readonly string[], timeoutMs: number): Promise<boolean>;
}

/** Of rows that are written now, greater than all before. `now` in milliseconds since the epoch. */
export function nextVersion(shards: Iterable<CopiedShard>, now: number): number {
  let version = now;
  for (const shard of shards) version = Math.max(version, shard.version + 1);
  return version;
}
