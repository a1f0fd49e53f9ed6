import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';
import type { SingleBar } from 'cli-progress';
import type { RejectedRecord } from '../../../ingest/pipeline.js';
import { grouped, type Io, tell } from '../io.js';
import type { Input } from './input.js';

const SHOWN_ERRORS = 20;
const PLAIN_PROGRESS_MS = 5000;
const NEWLINE = Buffer.from('\n');

/**
 * The file that keeps refused records as they were, so that it can be mended and loaded again. What it held before stays
 * until there is something new to say.
 */
export class Rejects {
  readonly #path: string;
  /** A CSV file is of use only with its header. */
  readonly #header: Buffer | undefined;
  #file: number | undefined;

  constructor(path: string, header: Buffer | undefined) {
    this.#path = path;
    this.#header = header;
    closeSync(openSync(path, 'a'));
  }

  write(untouched: Buffer): void {
    this.writePiece(untouched);
    this.writePiece(NEWLINE);
  }

  /** A piece of a line that goes on. */
  writePiece(piece: Buffer): void {
    writeSync(this.#begun(), piece);
  }

  /** Everything was read: the file holds what was refused and nothing else. */
  end(): void {
    if (this.#file === undefined) truncateSync(this.#path);
    else closeSync(this.#file);
  }

  #begun(): number {
    if (this.#file !== undefined) return this.#file;
    this.#file = openSync(this.#path, 'w');
    if (this.#header) writeSync(this.#file, Buffer.concat([this.#header, NEWLINE]));
    return this.#file;
  }
}

/** Tells a person how a load goes: refused records, progress, and the end. */
export class Report {
  readonly #io: Io;
  readonly #began = performance.now();
  #lastLine = performance.now();
  #bar: SingleBar | undefined;
  #input: Input | undefined;
  #shown = 0;
  #hasEnded = false;
  accepted = 0;
  rejected = 0;

  constructor(io: Io) {
    this.#io = io;
  }

  async begin(input: Input): Promise<void> {
    this.#input = input;
    if (!this.#io.stderr.isTTY) return;
    const { default: progress } = await import('cli-progress');
    this.#bar = new progress.SingleBar(
      {
        stream: this.#io.stderr as NodeJS.WriteStream,
        format: input.size === undefined ? '{records} records' : '{bar} {percentage} % | {records} records',
        hideCursor: true,
        clearOnComplete: true,
      },
      progress.Presets.shades_classic,
    );
    this.#bar.start(Math.max(1, input.size ?? 1), 0, { records: 0 });
  }

  progress(accepted: number, rejected: number): void {
    this.accepted = accepted;
    this.rejected = rejected;
    const records = grouped(accepted + rejected);
    this.#bar?.update(this.#input?.position() ?? 0, { records });
    if (this.#bar || performance.now() - this.#lastLine < PLAIN_PROGRESS_MS) return;
    this.#lastLine = performance.now();
    tell(this.#io, `${records} records …`);
  }

  refused({ line, code, pointer, detail }: RejectedRecord): void {
    this.rejected++;
    if (++this.#shown > SHOWN_ERRORS) return;
    this.#tell(`line ${line}: ${pointer === '' ? '' : `${pointer}: `}${detail} (${code})`);
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const hidden = this.rejected - Math.min(this.#shown, SHOWN_ERRORS);
    if (hidden > 0) tell(this.#io, `… and ${grouped(hidden)} more refused records.`);
  }

  summary(streamName: string, accepted: number, rejected: number): string {
    const seconds = Math.max(0.001, (performance.now() - this.#began) / 1000);
    const rate = grouped((accepted + rejected) / seconds);
    return `${streamName}: ${grouped(accepted)} accepted, ${grouped(rejected)} refused in ${seconds.toFixed(1)} s (${rate} records/s)`;
  }

  /** A line above the bar. */
  #tell(line: string): void {
    if (this.#bar) this.#io.stderr.write(`\r\u001b[K${line}\n`);
    else tell(this.#io, line);
  }
}
