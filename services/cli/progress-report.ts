import progress from 'cli-progress';
import { type Io, tell } from './io.js';

/** How far long work has come, part by part, as a bar or, where nobody watches, as a line now and then. */
export class ProgressReport {
  readonly #io: Io;
  readonly #unit: string;
  #part = '';
  #bar: progress.SingleBar | undefined;
  #lastLine = 0;

  /** `unit` names what is counted: records. */
  constructor(io: Io, unit: string) {
    this.#io = io;
    this.#unit = unit;
  }

  progress(part: string, done: number, total: number): void {
    if (part !== this.#part) this.#begin(part, total);
    this.#bar?.update(done);
    if (this.#bar || performance.now() - this.#lastLine < LINE_MS) return;
    this.#lastLine = performance.now();
    tell(this.#io, `${part}: ${done} of ${total} ${this.#unit} …`);
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #begin(part: string, total: number): void {
    this.end();
    this.#part = part;
    if (!this.#io.stderr.isTTY) return;
    this.#bar = new progress.SingleBar(
      {
        stream: this.#io.stderr as NodeJS.WriteStream,
        format: `${part} {bar} {percentage} % | {value} of {total} ${this.#unit}`,
        hideCursor: true,
      },
      progress.Presets.shades_classic,
    );
    this.#bar.start(total, 0);
  }
}

const LINE_MS = 5000;
