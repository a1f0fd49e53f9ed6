import { type DeadLetterRecord, eachDeadLetter, replayDeadLetters } from '../../../ingest/worker/replay.js';
import { skipRecords } from '../../../ingest/worker/skip.js';
import type { Rejection } from '../../rejections/rejection-store.js';
import { loadConfig } from '../../shared/config.js';
import { withCommandLease } from '../command-lease.js';
import { UsageError } from '../errors.js';
import { type Io, printErr, printOut, printTable, truncate } from '../io.js';
import { withKafka } from '../kafka.js';
import { withProgress } from '../progress.js';
import { eachStoredRejection, readCorrections, replayCorrections } from '../rejections.js';
import { parseStreams } from '../streams.js';

export interface ListOptions {
  /** Stream names separated by commas. */
  stream?: string;
  /** Lists only rejections of HTTP ingest of this organization. Kafka's dead letters may be unreadable, so their organization is unknown. */
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
  await eachStoredRejection(io, organization, (page) =>
    add(page.filter(({ stream }) => (streams as string[]).includes(stream)).map(ofHttp)),
  );
  if (organization !== undefined && hasKafka(io)) {
    printErr(
      io,
      'Dead letters of Kafka are not listed: --organization filters rejected records of HTTP ingest. Leave it out to list all.',
    );
  } else if (!more && hasKafka(io)) {
    await withKafka(io, (cluster, config) =>
      eachDeadLetter(cluster, config, { streams, all: options.all }, (found) => add(found.map(ofKafka))),
    );
  }
  if (options.json) for (const letter of letters) printOut(io, JSON.stringify(letter));
  else if (letters.length > 0) printTable(io, HEADINGS, letters.map(toRow));
  if (letters.length === 0) printErr(io, 'There are no dead letters.');
  if (more) printErr(io, `There are more; --limit ${options.limit * 10} shows more of them.`);
}

export interface ReplayOptions {
  stream?: string;
  /** Corrected records of HTTP ingest, as lines of `list --json`. */
  from?: string;
  dryRun?: boolean;
  rate?: number;
}

export async function replay(io: Io, options: ReplayOptions): Promise<void> {
  const { from, dryRun } = options;
  const streams = parseStreams(options.stream);
  if (from !== undefined) {
    const corrections = readCorrections(from).filter(({ stream }) => (streams as string[]).includes(stream));
    if (dryRun) return printOut(io, `${recordsOf(corrections.length)} would be sent again.`);
    const rejected = await replayCorrections(io, corrections);
    return printOut(io, `${recordsOf(corrections.length)} sent again, ${rejected} rejected again.`);
  }
  if (!hasKafka(io)) throw new UsageError(`Dead letters are in Kafka (KAFKA_BROKERS). ${REPLAY_HINT}`);
  const send = (throwIfLost?: () => void) =>
    withProgress(io, (progress) =>
      withKafka(io, (cluster, config) => {
        const onProgress = (name: string, done: number) => {
          throwIfLost?.();
          progress.update(`${name}: ${done} records`, done);
        };
        return replayDeadLetters(cluster, config, { streams, dryRun, rate: options.rate, onProgress });
      }),
    );
  const sent = dryRun
    ? await send()
    : await withCommandLease(io, LEASE, ({ throwIfLost }) => send(throwIfLost));
  if (sent.records === 0) printErr(io, 'There are no dead letters to replay.');
  else if (dryRun) printOut(io, `${recordsOf(sent.records)} would be sent again.`);
  else
    printOut(
      io,
      `${recordsOf(sent.records)} sent again. Records that are rejected again become dead letters again.`,
    );
  if (sent.tooLarge > 0) {
    printErr(
      io,
      `${recordsOf(sent.tooLarge)} left out: larger than the topic of the stream allows. Raise its max.message.bytes; list --all shows where the records are.`,
    );
  }
  if (sent.truncated > 0) {
    printErr(
      io,
      `${recordsOf(sent.truncated)} left out: a dead letter holds only the beginning of a record this large. The topic of the stream has the whole record, at the place that list --all shows, as long as its retention lasts.`,
    );
  }
}

/** One process at a time replays or skips dead letters: two would take partitions from each other. */
const LEASE = { command: 'dead-letters', doing: 'replays or skips dead letters' };

const REPLAY_HINT =
  'Records that HTTP ingest rejected are sent again with --from <file>: lines of list --json with the corrected record as "value".';

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
  const run = () =>
    withKafka(io, (cluster, config) =>
      skipRecords(cluster, config, { stream, partition, offset: BigInt(offset), dryRun }),
    );
  const count = dryRun ? await run() : await withCommandLease(io, LEASE, run);
  if (dryRun) printOut(io, `${recordsOf(count)} would be skipped.`);
  else
    printOut(
      io,
      `${recordsOf(count)} skipped: now among the dead letters, with the code skipped. Start the workers again.`,
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
    truncate(pointer, 60) || '-',
    truncate(key ?? '-', 40),
    truncate(detail ?? '-', 120),
  ];
}

/** A rejected record as `list --json` prints it. */
type ListedLetter = ReturnType<typeof ofKafka | typeof ofHttp>;

/**
 * A dead letter of Kafka. Its organization is unknown, because the record may be unreadable. `place` is `partition/offset` in the topic of
 * the stream.
 */
function ofKafka({ record, ...letter }: DeadLetterRecord) {
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
    key: record.key?.toString() ?? null,
    value: record.value?.toString() ?? null,
  };
}

/** A record that HTTP ingest rejected. Only its sender has the record itself; `line` is its line in the request. */
const ofHttp = (rejection: Rejection) => ({
  ...rejection,
  place: `line ${rejection.line}`,
  attempts: 1,
  stage: 'http',
  detail: undefined,
  key: rejection.record_id,
  value: null,
});
