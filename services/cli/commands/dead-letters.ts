import { type DeadLetterRecord, eachDeadLetter, replayDeadLetters } from '../../../ingest/worker/replay.js';
import { skipRecords } from '../../../ingest/worker/skip.js';
import { UsageError } from '../errors.js';
import { type Io, printErr, printOut, printTable, terminalJson, truncate } from '../io.js';
import { withKafka } from '../kafka.js';
import { Progress } from '../progress.js';
import { parseStreams } from '../streams.js';

export interface ListOptions {
  /** Names separated by commas. */
  stream?: string;
  code?: string;
  limit: number;
  all?: boolean;
  json?: boolean;
}

const HEADINGS = ['STREAM', 'PLACE', 'REJECTED', 'TIMES', 'CODE', 'POINTER', 'KEY', 'DETAIL'];

export async function listDeadLetters(io: Io, options: ListOptions): Promise<void> {
  const streams = parseStreams(options.stream);
  const letters: DeadLetterRecord[] = [];
  let more = false;
  await withKafka(io, (cluster, config) =>
    eachDeadLetter(cluster, config, { streams, all: options.all }, (found) => {
      for (const letter of found) {
        if (options.code !== undefined && letter.code !== options.code) continue;
        if (letters.length < options.limit) letters.push(letter);
        else more = true;
      }
      return !more;
    }),
  );
  if (options.json) for (const letter of letters) printOut(io, terminalJson(toJson(letter)));
  else if (letters.length > 0) printTable(io, HEADINGS, letters.map(toRow));
  if (letters.length === 0) printErr(io, 'There are no dead letters.');
  if (more) printErr(io, `There are more; --limit ${options.limit * 10} shows them.`);
}

export interface ReplayOptions {
  stream?: string;
  dryRun?: boolean;
  rate?: number;
}

export async function replay(io: Io, { stream, dryRun, rate }: ReplayOptions): Promise<void> {
  const streams = parseStreams(stream);
  const progress = await Progress.start(io);
  const { records: count, truncated } = await withKafka(io, async (cluster, config) => {
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
  if (count === 0) printErr(io, 'There are no dead letters to replay.');
  else if (dryRun) printOut(io, `${recordsOf(count)} would be sent again.`);
  else printOut(io, `${recordsOf(count)} sent again. What is rejected again becomes a dead letter again.`);
  if (truncated > 0) {
    printErr(
      io,
      `${recordsOf(truncated)} left out: too large for a dead letter, which holds the beginning only. The topic of the stream has the whole record, at the place that list --all shows, for as long as it keeps records.`,
    );
  }
}

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

const rejectedAt = ({ record }: DeadLetterRecord) => new Date(record.timestamp).toISOString();

function toRow(letter: DeadLetterRecord): string[] {
  const { stream, place, attempts, code, pointer, detail, record } = letter;
  const key = record.key?.toString() ?? '-';
  return [
    stream,
    place,
    rejectedAt(letter).slice(0, 19),
    String(attempts),
    code,
    printable(pointer, 60) || '-',
    printable(key, 40),
    printable(detail, 120),
  ];
}

/** On one line, and not longer than it can be read. */
function printable(text: string, most: number): string {
  return truncate(text.replace(/[\s\p{Cc}]+/gu, ' '), most);
}

function toJson(letter: DeadLetterRecord): object {
  const { stream, place, code, pointer, detail, stage, attempts, record } = letter;
  return {
    stream,
    place,
    rejected_at: rejectedAt(letter),
    attempts,
    code,
    pointer,
    detail,
    stage,
    key: record.key?.toString() ?? null,
    value: record.value?.toString() ?? null,
  };
}
