import type { StreamName } from '../../../ingest/streams/index.js';
import {
  type DeadLetterRecord,
  eachDeadLetter,
  type ReplayResult,
  replayDeadLetters,
} from '../../../ingest/worker/replay.js';
import { skipRecords } from '../../../ingest/worker/skip.js';
import { loadConfig } from '../../shared/config.js';
import type { StoredDeadLetter } from '../../stores/common/dead-letters.js';
import { UsageError } from '../errors.js';
import { type Io, printErr, printOut, printTable, terminalJson, truncate } from '../io.js';
import { withKafka } from '../kafka.js';
import { Progress } from '../progress.js';
import { eachStoredDeadLetter, readCorrections, replayStoredDeadLetters } from '../stored-dead-letters.js';
import { parseStreams } from '../streams.js';

export interface ListOptions {
  /** Names separated by commas. */
  stream?: string;
  /** Of HTTP ingest; a topic does not know the organization of what cannot be read. */
  organization?: string;
  code?: string;
  limit: number;
  all?: boolean;
  json?: boolean;
}

const HEADINGS = ['STREAM', 'ORGANIZATION', 'PLACE', 'REJECTED', 'TIMES', 'CODE', 'POINTER', 'KEY', 'DETAIL'];

export async function listDeadLetters(io: Io, options: ListOptions): Promise<void> {
  const streams = parseStreams(options.stream);
  const { organization } = options;
  const letters: ListedLetter[] = [];
  let more = false;
  const add = (found: ListedLetter[]) => {
    for (const letter of found) {
      if (options.code !== undefined && letter.code !== options.code) continue;
      if (letters.length < options.limit) letters.push(letter);
      else more = true;
    }
    return !more;
  };
  await eachStoredDeadLetter(io, { organization, streams }, (found) => add(found.map(ofHttp)));
  if (!more && hasKafka(io) && organization === undefined) {
    await withKafka(io, (cluster, config) =>
      eachDeadLetter(cluster, config, { streams, all: options.all }, (found) => add(found.map(ofKafka))),
    );
  }
  if (options.json) for (const letter of letters) printOut(io, terminalJson(letter));
  else if (letters.length > 0) printTable(io, HEADINGS, letters.map(toRow));
  if (letters.length === 0) printErr(io, 'There are no dead letters.');
  if (more) printErr(io, `There are more; --limit ${options.limit * 10} shows them.`);
}

export interface ReplayOptions {
  stream?: string;
  organization?: string;
  /** Corrected records, as lines of `list --json`. */
  from?: string;
  dryRun?: boolean;
  rate?: number;
}

export async function replay(io: Io, options: ReplayOptions): Promise<void> {
  const { stream, organization, from, dryRun } = options;
  const streams = parseStreams(stream);
  const corrections = from === undefined ? undefined : readCorrections(from);
  const stored = await replayStoredDeadLetters(io, { organization, streams, corrections, dryRun });
  const isStoredOnly = !hasKafka(io) || organization !== undefined || corrections !== undefined;
  const sent = isStoredOnly ? { records: 0, truncated: 0 } : await replayTopics(io, streams, options);
  const count = stored.records + sent.records;
  if (count === 0) printErr(io, 'There are no dead letters to replay.');
  else if (dryRun) printOut(io, `${recordsOf(count)} would be sent again.`);
  else if (sent.records === 0)
    printOut(io, `${recordsOf(count)} sent again, ${stored.rejected} rejected again.`);
  else printOut(io, `${recordsOf(count)} sent again. What is rejected again becomes a dead letter again.`);
  const truncated = stored.truncated + sent.truncated;
  if (truncated > 0) {
    printErr(
      io,
      `${recordsOf(truncated)} left out: too large for a dead letter, which holds the beginning only. Where it came from Kafka, the topic of the stream has the whole record, at the place that list --all shows, for as long as it keeps records.`,
    );
  }
}

/** Those of Kafka. */
async function replayTopics(
  io: Io,
  streams: readonly StreamName[],
  { dryRun, rate }: ReplayOptions,
): Promise<ReplayResult> {
  const progress = await Progress.start(io);
  return withKafka(io, async (cluster, config) => {
    const waiting = new Map<string, number>();
    await eachDeadLetter(cluster, config, { streams }, (letters) => {
      for (const letter of letters) waiting.set(letter.stream, (waiting.get(letter.stream) ?? 0) + 1);
      return true;
    });
    const onProgress = (name: string, done: number) => {
      const total = waiting.get(name) ?? done;
      progress.update(`${name}: ${done} of ${total} records`, done, total);
    };
    return replayDeadLetters(cluster, config, { streams, dryRun, rate, onProgress });
  }).finally(() => progress.end());
}

const hasKafka = (io: Io) => loadConfig(io.env).kafka !== null;

export interface SkipOptions {
  stream: string;
  partition: number;
  offset: number;
  dryRun?: boolean;
}

export async function skip(io: Io, { stream: name, partition, offset, dryRun }: SkipOptions): Promise<void> {
  const [stream, ...others] = parseStreams(name);
  if (!stream || others.length > 0) throw new UsageError('Name one stream.');
  const count = await withKafka(io, (cluster, config) =>
    skipRecords(cluster, config, { stream, partition, offset: BigInt(offset), dryRun }),
  );
  if (dryRun) printOut(io, `${recordsOf(count)} would be skipped.`);
  else
    printOut(
      io,
      `${recordsOf(count)} skipped: now among the dead letters with the code skipped. Start the workers again.`,
    );
}

const recordsOf = (count: number) => (count === 1 ? '1 record' : `${count} records`);

function toRow(letter: ListedLetter): string[] {
  const { stream, organization_id, place, rejected_at, attempts, code, pointer, detail, key } = letter;
  return [
    stream,
    organization_id ?? '-',
    place,
    rejected_at.slice(0, 19),
    String(attempts),
    code,
    printable(pointer, 60) || '-',
    printable(key ?? '-', 40),
    printable(detail, 120),
  ];
}

/** On one line, and not longer than it can be read. */
function printable(text: string, most: number): string {
  return truncate(text.replace(/[\s\p{Cc}]+/gu, ' '), most);
}

/** As `--json` prints it. */
interface ListedLetter {
  stream: string;
  /** Null for Kafka: a topic does not know the organization of what cannot be read. */
  organization_id: string | null;
  /** `partition/offset` in the topic of the stream, or `line` and the line of a request. */
  place: string;
  rejected_at: string;
  attempts: number;
  code: string;
  pointer: string;
  detail: string;
  stage: string;
  /** Of the letter in the store; null for Kafka. */
  id: string | null;
  key: string | null;
  value: string | null;
  /** Of the request, with which `value` is mapped when it is sent again; null without one, and for Kafka. */
  mapping: string | null;
}

function ofKafka({ record, ...letter }: DeadLetterRecord): ListedLetter {
  const { stream, place, code, pointer, detail, stage, attempts } = letter;
  return {
    stream,
    organization_id: null,
    place,
    rejected_at: new Date(record.timestamp).toISOString(),
    attempts,
    code,
    pointer,
    detail,
    stage,
    id: null,
    key: record.key?.toString() ?? null,
    value: record.value?.toString() ?? null,
    mapping: null,
  };
}

function ofHttp(letter: StoredDeadLetter): ListedLetter {
  const { stream, organizationId, line, acceptedAt, attempts, code, pointer, detail, id } = letter;
  return {
    stream,
    organization_id: organizationId,
    place: `line ${line}`,
    rejected_at: new Date(acceptedAt).toISOString(),
    attempts,
    code,
    pointer,
    detail,
    stage: 'http',
    id,
    key: null,
    value: Buffer.from(letter.value, letter.encoding).toString(),
    mapping: letter.mapping ?? null,
  };
}
