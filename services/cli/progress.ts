import type progressLibrary from 'cli-progress';
import type { SingleBar } from 'cli-progress';
import { type Io, printable, printErr } from './io.js';

const LINE_INTERVAL_MS = 5000;

/** Shows the progress of `work` until it ends. */
export async function withProgress<T>(io: Io, work: (progress: Progress) => Promise<T>): Promise<T> {
  const progress = await Progress.start(io);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}

/** Progress of long work: a bar on a terminal, otherwise a line every 5 s. */
export class Progress {
  readonly #io: Io;
  /** Loaded on terminals only. */
  readonly #library: typeof progressLibrary | undefined;
  #bar: SingleBar | undefined;
  readonly #startedAt = performance.now();
  #lastLineAt = performance.now();

  private constructor(io: Io, library: typeof progressLibrary | undefined) {
    this.#io = io;
    this.#library = library;
  }

  static async start(io: Io): Promise<Progress> {
    return new Progress(io, io.stderr.isTTY ? (await import('cli-progress')).default : undefined);
  }

  /** Seconds since the start. */
  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  /** Shows text and bar. Without `total` it shows only the text; without `text` it shows only the bar. */
  update(text: string, done: number, total?: number): void {
    if (this.#library) {
      this.#bar ??= this.#createBar(this.#library, total !== undefined);
      this.#bar.setTotal(Math.max(1, total ?? 1));
      this.#bar.update(Math.min(done, total ?? 1), { text: printable(text) });
    } else if (text !== '' && performance.now() - this.#lastLineAt >= LINE_INTERVAL_MS) {
      this.#lastLineAt = performance.now();
      printErr(this.#io, `${text} …`);
    }
  }

  /** Prints a line above the bar. */
  printLine(line: string): void {
    if (this.#bar) this.#io.stderr.write(`\r\u001b[K${printable(line)}\n`);
    else printErr(this.#io, line);
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #createBar(library: typeof progressLibrary, hasTotal: boolean): SingleBar {
    const bar = new library.SingleBar(
      {
        stream: this.#io.stderr as NodeJS.WriteStream,
        format: hasTotal ? '{bar} {percentage} % {eta_formatted} left {text}' : '{text}',
        hideCursor: true,
        clearOnComplete: true,
      },
      library.Presets.shades_classic,
    );
    bar.start(1, 0, { text: '' });
    return bar;
  }
}
