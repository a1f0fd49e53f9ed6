import { emptyResult, type IngestResult, type RejectedRecord } from '../../../ingest/pipeline.js';
import { formatCount, type Io, printErr } from '../io.js';
import { OutputFile } from '../output-file.js';
import type { Progress } from '../progress.js';
import type { Input } from './input.js';

const NEWLINE = Buffer.from('\n');

/**
 * The file of rejected records, byte for byte, to be corrected and loaded again. It appears once everything was read; its previous content
 * stays until then.
 */
export class Rejects {
  readonly #file: OutputFile;
  /** Header of a CSV file, which is written before the first record. */
  #header: Buffer | undefined;

  constructor(path: string, header: Buffer | undefined) {
    this.#file = new OutputFile(path);
    this.#header = header;
  }

  write(untouched: Buffer): void {
    this.writePiece(untouched);
    this.writePiece(NEWLINE);
  }

  /** A piece of a line that continues. */
  writePiece(piece: Buffer): void {
    if (this.#header) this.#file.write(Buffer.concat([this.#header, NEWLINE]));
    this.#header = undefined;
    this.#file.write(piece);
  }

  /** Everything was read: the file now holds the rejected records of this load only. */
  end(): void {
    this.#file.complete();
  }

  /** The load ended early: loading again finds what was rejected. */
  discard(): void {
    this.#file.discard();
  }
}

const { errors: _errors, preset: _preset, missing_tables: _tables, ...COUNTS } = emptyResult();
const NO_COUNTS = { ...COUNTS, ignored: 0, created: 0, updated: 0, matched: 0, ambiguous: 0 };

/** Reports an import to people: rejected records, progress, and the summary. */
export class Report {
  readonly #io: Io;
  /** Bytes of all files; undefined for standard input. */
  readonly #size: number | undefined;
  readonly #progress: Progress;
  #input: Input | undefined;
  /** Before the messages of the file, where there are several. */
  #label = '';
  /** Bytes of the files before this one, and what became of their records. */
  #readBefore = 0;
  readonly total = { ...NO_COUNTS };
  #shown = 0;
  #accepted = 0;
  #rejected = 0;
  readonly #maxShown: number;

  constructor(io: Io, size: number | undefined, progress: Progress, maxShown: number) {
    this.#io = io;
    this.#size = size;
    this.#progress = progress;
    this.#maxShown = maxShown;
  }

  begin(input: Input, label: string): void {
    this.#input = input;
    this.#label = label;
  }

  progress(accepted: number, rejected: number): void {
    this.#accepted = this.total.accepted + accepted;
    this.#rejected = this.total.rejected + rejected;
    const records = this.#accepted + this.#rejected;
    const rate = formatCount(records / this.#progress.seconds);
    const read = this.#readBefore + (this.#input?.position() ?? 0);
    this.#progress.update(`${this.#label}${formatCount(records)} records, ${rate}/s`, read, this.#size);
  }

  /** The file is loaded. */
  endFile(result: IngestResult): void {
    for (const name of Object.keys(this.total) as (keyof typeof this.total)[]) {
      this.total[name] += result[name] ?? 0;
    }
    this.#readBefore += this.#input?.size ?? 0;
  }

  /** What somebody who pressed Ctrl-C needs to know. */
  interruption(): string {
    return `Interrupted after ${formatCount(this.#accepted)} ${this.#accepted === 1 ? 'record' : 'records'}. You can safely run the command again.`;
  }

  rejected({ line, code, pointer, detail }: RejectedRecord): void {
    this.#rejected++;
    if (++this.#shown > this.#maxShown) return;
    const what = `${pointer === '' ? '' : `${pointer}: `}${detail} (${code})`;
    // Names of fields may hold line feeds.
    this.#progress.printLine(`${this.#label}line ${line}: ${what.replaceAll('\n', '\\n')}`);
  }

  end(): void {
    this.#progress.end();
    const hidden = this.#rejected - Math.min(this.#shown, this.#maxShown);
    if (hidden > 0) printErr(this.#io, `… and ${formatCount(hidden)} more rejected records.`);
  }

  summary(streamName: string): string {
    const {
      accepted,
      rejected,
      skipped,
      rounded,
      suppressed,
      stale,
      invalid_domains,
      invalid_values,
      ignored,
      created,
      updated,
      matched,
      ambiguous,
    } = this.total;
    const seconds = Math.max(0.001, this.#progress.seconds);
    const rate = formatCount((accepted + rejected) / seconds);
    const notes = [
      [created, (count: string) => `${count} new`],
      [updated, (count: string) => `${count} of known ids`],
      [matched, (count: string) => `${count} of people known under another id`],
      [ambiguous, (count: string) => `${count} of people known more than once`],
      [rounded, (count: string) => `money of ${count} rounded to 12 digits after the point`],
      [suppressed, (count: string) => `${count} of erased persons left out`],
      [stale, (count: string) => `${count} older than what is stored`],
      [invalid_domains, (count: string) => `${count} texts that are no domain left out`],
      [invalid_values, (count: string) => `values that are none, such as #N/A, left out of ${count}`],
      [ignored, (count: string) => `unknown fields of ${count} left out`],
    ] as const;
    const noted = notes.map(([count, note]) => (count > 0 ? ` (${note(formatCount(count))})` : '')).join('');
    const leftOut = skipped > 0 ? `, ${formatCount(skipped)} skipped` : '';
    return `${streamName}: ${formatCount(accepted)} accepted${noted}, ${formatCount(rejected)} rejected${leftOut} in ${seconds.toFixed(1)} s (${rate} records/s)`;
  }
}
