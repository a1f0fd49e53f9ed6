/**
 * Judges the clock of a process without servers by the last time recorded in its data folder. A clock that jumps further than `MAX_LEAP_MS`
 * is not trusted until it has run for a day, so a single start with a wrong clock deletes nothing by age.
 */
import { type Clock, DAY_MS } from './time.js';

/** Milliseconds by which a trusted clock may be ahead of the last recorded time. */
export const MAX_LEAP_MS = 30 * DAY_MS;
/** Milliseconds that a clock must run, as fast as the monotonic clock, to be trusted again. */
export const BELIEVED_AFTER_MS = DAY_MS;
const NOTE_INTERVAL_MS = 3_600_000;
/** Milliseconds by which both clocks must differ for the system clock to count as set. */
const SET_MS = 60_000;

/** Stores a time, in milliseconds since the epoch, that outlives the process. */
export interface TimeNote {
  /** Reads the time; null before the first write. Never throws. */
  read(): number | null;
  /** Writes the time. Never throws: if the disk is full, the previous time stays. */
  write(milliseconds: number): void;
}

export class ClockMemory {
  readonly #note: TimeNote;
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  #noted: number | null;
  /** When the clock was last set, as far as this process knows. */
  #since: { wallMs: number; monotonicMs: number };

  constructor(note: TimeNote, clock: Clock, monotonic: () => number) {
    this.#note = note;
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#noted = note.read();
    this.#since = { wallMs: clock.now(), monotonicMs: monotonic() };
  }

  /** Milliseconds by which the clock is ahead of what is plausible; 0 if it is trusted. Reads and writes no note. */
  leapMs(): number {
    const ranMs = this.#steadyMs();
    if (this.#noted === null || ranMs >= BELIEVED_AFTER_MS) return 0;
    const leapMs = this.#clock.now() - this.#noted;
    // The time that this process has run since then is real, so it does not count as a leap.
    return leapMs > MAX_LEAP_MS ? leapMs - ranMs : 0;
  }

  /** The last recorded time, in milliseconds since the epoch. */
  get noted(): number | null {
    return this.#noted;
  }

  /** Reads the note again, because a command may have written a note, and records the time once an hour if the clock is trusted. */
  check(): void {
    this.#noted = this.#note.read() ?? this.#noted;
    if (this.leapMs() !== 0) return;
    const now = this.#clock.now();
    const noted = this.#noted ?? Number.NEGATIVE_INFINITY;
    // A clock that was set back only deletes less. Its time is recorded once the clock is trusted, so that a wrong recorded time does not
    // stay.
    const isBehind = now < noted - NOTE_INTERVAL_MS && this.#steadyMs() >= BELIEVED_AFTER_MS;
    if (now >= noted + NOTE_INTERVAL_MS || isBehind) {
      this.#note.write(now);
      this.#noted = now;
    }
  }

  /** Milliseconds that the clock has run as fast as the monotonic clock. */
  #steadyMs(): number {
    const wallMs = this.#clock.now();
    const monotonicMs = this.#monotonic();
    const ranMs = monotonicMs - this.#since.monotonicMs;
    if (Math.abs(wallMs - this.#since.wallMs - ranMs) <= SET_MS) return ranMs;
    this.#since = { wallMs, monotonicMs };
    return 0;
  }
}
