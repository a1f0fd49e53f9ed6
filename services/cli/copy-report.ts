import progress from 'cli-progress';
import { type Io, tell } from './io.js';

/** How far the copying of an index has come, as a bar or, where nobody watches, as a line now and then. */
export class CopyReport {
  readonly #io: Io;
  #index = '';
  #bar: progress.SingleBar | undefined;
  #lastLine = 0;

  constructor(io: Io) {
    this.#io = io;
  }

  progress(index: string, copied: number, total: number): void {
    if (index !== this.#index) this.#begin(index, total);
    this.#bar?.update(copied);
    if (this.#bar || performance.now() - this.#lastLine < LINE_MS) return;
    this.#lastLine = performance.now();
    tell(this.#io, `${index}: ${copied} of ${total} documents …`);
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #begin(index: string, total: number): void {
    this.end();
    this.#index = index;
    if (!this.#io.stderr.isTTY) return;
    this.#bar = new progress.SingleBar(
      {
        stream: this.#io.stderr as NodeJS.WriteStream,
        format: `${index} {bar} {percentage} % | {value} of {total} documents`,
        hideCursor: true,
      },
      progress.Presets.shades_classic,
    );
    this.#bar.start(total, 0);
  }
}

const LINE_MS = 5000;
