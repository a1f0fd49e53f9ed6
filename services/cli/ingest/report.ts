import { emptyResult, type IngestResult, type RejectedRecord } from '../../../ingest/pipeline.js';
import { formatCount, type Io, printErr } from '../io.js';
import { OutputFile } from '../output-file.js';
import type { Progress } from '../progress.js';
import type { Input } from './input.js';

const NEWLINE = Buffer.from('\n');

/**
 * A file for rejected records, byte for byte, which can be corrected and loaded again. It appears once all input was read; until then its
 * previous content stays.
 */
export class Rejects {
  readonly #file: OutputFile;
  /** Header of a CSV file. It is written before the first record. */
  #header: Buffer | undefined;

  constructor(path: string, header: Buffer | undefined) {
    this.#file = new OutputFile(path);
    this.#header = header;
  }

  write(untouched: Buffer): void {
    this.writePiece(untouched);
    this.writePiece(NEWLINE);
  }

  /** Writes a piece of a line that continues. */
  writePiece(piece: Buffer): void {
    if (this.#header) this.#file.write(Buffer.concat([this.#header, NEWLINE]));
    this.#header = undefined;
    this.#file.write(piece);
  }

  /** Completes the file after all input was read: it now holds the rejected records of this load only. */
  end(): void {
    this.#file.complete();
  }

  /** Discards the file after a load that ended early: the next load finds the rejected records again. */
  discard(): void {
    this.#file.discard();
  }
}

const { errors: _errors, preset: _preset, missing_tables: _tables, ...COUNTS } = emptyResult();
const NO_COUNTS = { ...COUNTS, ignored: 0, created: 0, updated: 0, matched: 0, ambiguous: 0 };

/** Reports a load to people: rejected records, progress, and a summary. */
export class Report {
  readonly #io: Io;
  /** Bytes of all files; undefined for standard input. */
  readonly #size: number | undefined;
  readonly #progress: Progress;
  #input: Input | undefined;
  /** Prefix of messages about the current file, if there are several files. */
  #label = '';
  /** Bytes of the earlier files, and the outcomes of their records. */
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

  /** Ends the report of one file. */
  endFile(result: IngestResult): void {
    for (const name of Object.keys(this.total) as (keyof typeof this.total)[]) {
      this.total[name] += result[name] ?? 0;
    }
    this.#readBefore += this.#input?.size ?? 0;
  }

  /** Message for a person who pressed Ctrl-C. */
  interruption(): string {
    return `Interrupted after ${formatCount(this.#accepted)} ${this.#accepted === 1 ? 'record' : 'records'}. You can safely run the command again.`;
  }

  rejected({ line, code, pointer, detail }: RejectedRecord): void {
    this.#rejected++;
    if (++this.#shown > this.#maxShown) return;
    const what = `${pointer === '' ? '' : `${pointer}: `}${detail} (${code})`;
    // Field names may contain line feeds.
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
      [updated, (count: string) => `${count} with known ids`],
      [matched, (count: string) => `${count} of people with another id`],
      [ambiguous, (count: string) => `${count} of people with several contacts`],
      [rounded, (count: string) => `amounts in ${count} rounded to 12 decimal places`],
      [suppressed, (count: string) => `${count} of erased persons left out`],
      [stale, (count: string) => `${count} older than the stored record`],
      [invalid_domains, (count: string) => `${count} texts that are not a domain left out`],
      [invalid_values, (count: string) => `placeholders such as #N/A left out of ${count}`],
      [ignored, (count: string) => `unknown fields left out of ${count}`],
    ] as const;
    const noted = notes.map(([count, note]) => (count > 0 ? ` (${note(formatCount(count))})` : '')).join('');
    const leftOut = skipped > 0 ? `, ${formatCount(skipped)} skipped` : '';
    return `${streamName}: ${formatCount(accepted)} accepted${noted}, ${formatCount(rejected)} rejected${leftOut} in ${seconds.toFixed(1)} s (${rate} records/s)`;
  }
}
