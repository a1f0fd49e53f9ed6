/** Rejected records of HTTP ingest, which the search store keeps. Those of Kafka are in its topics. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mapSource } from '../../ingest/mapping/map-source.js';
import type { Mapping } from '../../ingest/mapping/mapping.js';
import { type IngestOptions, ingestRecords } from '../../ingest/pipeline.js';
import { namedMappings } from '../../ingest/presets/named-mappings.js';
import type { RawRecord } from '../../ingest/records/raw-record.js';
import { findStream } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { loadConfig } from '../shared/config.js';
import { newId } from '../shared/ids.js';
import {
  type DeadLetterStore,
  type StoredDeadLetter,
  storedDeadLetters,
} from '../stores/common/dead-letters.js';
import { SEARCH_FILE } from '../stores/data-folder/layout.js';
import type { Stores } from '../stores/open-stores.js';
import { withAdminStore } from './admin-stores.js';
import { CommandError } from './errors.js';
import { type GatewayTarget, withFolder } from './gateway.js';
import { sendRecords } from './ingest/gateway-sink.js';
import type { Io } from './io.js';

export interface DeadLetterFilter {
  organization?: string;
  streams: readonly string[];
}

/** Calls `onLetters` with pages of them, oldest first, until it returns false. */
export async function eachStoredDeadLetter(
  io: Io,
  { organization, streams }: DeadLetterFilter,
  onLetters: (letters: StoredDeadLetter[]) => boolean,
): Promise<void> {
  if (!hasSearchStore(io)) return;
  await withAdminStore(io, async (store) => {
    for await (const page of storedDeadLetters(store, organization)) {
      if (!onLetters(page.filter(({ stream }) => streams.includes(stream)))) return;
    }
  });
}

/** False where only Kafka is used, and opening the store would create a data folder. */
function hasSearchStore({ env }: Io): boolean {
  const { elasticsearch, dataDir } = loadConfig(env);
  return elasticsearch !== null || existsSync(join(dataDir, SEARCH_FILE));
}

/** Corrected records by id, from lines as `dead-letters list --json` prints them. Throws CommandError. */
export function readCorrections(path: string): Map<string, string> {
  const corrections = new Map<string, string>();
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue;
    let letter: { id?: unknown; value?: unknown };
    try {
      letter = JSON.parse(line) as typeof letter;
    } catch {
      letter = {};
    }
    const { id, value } = letter;
    if (typeof id !== 'string' || typeof value !== 'string') {
      throw new CommandError(
        `Line ${index + 1} of ${path} is not a dead letter of HTTP ingest, as reachline dead-letters list --json prints it.`,
      );
    }
    corrections.set(id, value);
  }
  return corrections;
}

export interface StoredReplayOptions extends DeadLetterFilter {
  /** Sends only these, with the corrected values. */
  corrections?: ReadonlyMap<string, string>;
  dryRun?: boolean;
}

export interface StoredReplayResult {
  records: number;
  /** Of these, those that are dead letters again. */
  rejected: number;
  truncated: number;
}

/**
 * Sends them through the pipeline again, as records of their organization and with the mapping that they came with. Those that are
 * accepted are deleted; the others stay, with their new reason. Their order is that of their first acceptance, except through a server,
 * which accepts them anew. Throws CommandError for a mapping that is gone, and, before any is sent, for a correction of none of them.
 */
export async function replayStoredDeadLetters(
  io: Io,
  options: StoredReplayOptions,
): Promise<StoredReplayResult> {
  const result: StoredReplayResult = { records: 0, rejected: 0, truncated: 0 };
  if (!hasSearchStore(io)) return result;
  return withAdminStore(io, async (store) => {
    await requireCorrected(store, options);
    for (const id of await organizationsOf(store, options.organization)) {
      const letters = await lettersToReplay(store, id, options, result);
      result.records += letters.length;
      if (options.dryRun || letters.length === 0) continue;
      await withFolder(io, { organization: id, scope: ['ingest:write'] }, async (destination) => {
        // Without a gateway each request keeps its order.
        const requestOf = ({ stream, mapping, acceptedAt, sequence, line }: StoredDeadLetter) =>
          JSON.stringify([
            stream,
            mapping,
            ...('search' in destination ? [acceptedAt, sequence - line] : []),
          ]);
        for (const request of groupBy(letters, requestOf).values()) {
          const replay = new Replay(request);
          await send(io, destination, replay, request[0] as StoredDeadLetter);
          await replay.settle(store);
          result.rejected += replay.rejected.length;
        }
      });
    }
    return result;
  });
}

const MAX_NAMED_IDS = 10;

async function requireCorrected(
  store: DeadLetterStore,
  { organization, streams, corrections = new Map() }: StoredReplayOptions,
): Promise<void> {
  const unknown = new Set(corrections.keys());
  if (unknown.size === 0) return;
  for await (const page of storedDeadLetters(store, organization))
    for (const { id, stream } of page) if (streams.includes(stream)) unknown.delete(id);
  if (unknown.size === 0) return;
  const named = [...unknown].slice(0, MAX_NAMED_IDS).join(', ');
  const more = unknown.size > MAX_NAMED_IDS ? ` and ${unknown.size - MAX_NAMED_IDS} more` : '';
  throw new CommandError(
    `No dead letter of HTTP ingest has the id ${named}${more}. Nothing was sent: leave out what was replayed already, and list again what was rejected again.`,
  );
}

async function organizationsOf(store: DeadLetterStore, organization?: string): Promise<Iterable<string>> {
  if (organization !== undefined) return [organization];
  const ids = new Set<string>();
  for await (const page of storedDeadLetters(store))
    for (const letter of page) ids.add(letter.organizationId);
  return ids;
}

/** Those of one organization, bounded by `DEAD_LETTER_LIMITS`. Counts those that are truncated. */
async function lettersToReplay(
  store: DeadLetterStore,
  organization: string,
  { streams, corrections }: StoredReplayOptions,
  result: StoredReplayResult,
): Promise<StoredDeadLetter[]> {
  const letters: StoredDeadLetter[] = [];
  for await (const page of storedDeadLetters(store, organization)) {
    for (const letter of page) {
      const value = corrections?.get(letter.id);
      if (!streams.includes(letter.stream) || (corrections && value === undefined)) continue;
      if (value !== undefined) letters.push({ ...letter, value, encoding: 'utf8', truncatedFrom: null });
      else if (letter.truncatedFrom === null) letters.push(letter);
      else result.truncated++;
    }
  }
  return letters;
}

/** Sends the records of one request; the last argument is any of them. */
async function send(
  io: Io,
  destination: Stores | GatewayTarget,
  replay: Replay,
  { organizationId, stream: name, mapping: map, acceptedAt, sequence, line }: StoredDeadLetter,
): Promise<void> {
  const stream = findStream(name) as Stream;
  const { source, onRejected } = replay;
  if (!('search' in destination)) {
    const { signal } = new AbortController();
    await sendRecords({
      target: destination,
      stream,
      map,
      source,
      onRejected,
      findEveryRejected: true,
      signal,
    });
    return;
  }
  await ingestRecords({
    stores: destination,
    stream,
    organizationId,
    source: map === undefined ? source : mapSource(source, findMapping(io, map)),
    unknownFields: loadConfig(io.env).unknownFields,
    onRejected,
    acceptance: { now: () => acceptedAt, sequence: sequence - line },
  });
}

function findMapping({ env }: Io, name: string): Mapping {
  const found = namedMappings(loadConfig(env)).get(name);
  if (found) return found.mapping;
  throw new CommandError(
    `There is no mapping ${JSON.stringify(name)} any more, with which rejected records came. Put its file back where REACHLINE_MAPPINGS says.`,
  );
}

/** Dead letters that are sent again together. */
class Replay {
  readonly rejected: StoredDeadLetter[] = [];
  readonly #letters = new Map<RawRecord, StoredDeadLetter>();

  constructor(letters: readonly StoredDeadLetter[]) {
    for (const letter of letters) {
      this.#letters.set({ line: letter.line, bytes: Buffer.from(letter.value, letter.encoding) }, letter);
    }
  }

  get source(): AsyncIterable<RawRecord[]> {
    const raws = [...this.#letters.keys()];
    return (async function* () {
      yield raws;
    })();
  }

  readonly onRejected: IngestOptions['onRejected'] = ({ code, pointer, detail }, _, raw) => {
    const letter = this.#letters.get(raw) as StoredDeadLetter;
    const { acceptedAt, attempts } = letter;
    const id = newId('rej', acceptedAt);
    this.rejected.push({ ...letter, id, code, pointer, detail, attempts: attempts + 1 });
  };

  /** Interrupted between its two steps, it leaves a letter twice rather than not at all. */
  async settle(store: DeadLetterStore): Promise<void> {
    if (this.rejected.length > 0) await store.keepDeadLetters(this.rejected);
    await store.deleteDeadLetters([...this.#letters.values()].map(({ id }) => id));
  }
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
