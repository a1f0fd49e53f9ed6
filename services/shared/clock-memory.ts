/**
 * Judges the clock of a process without servers by the last time recorded in its data folder. A clock that jumps further is not trusted
 * until it has run for a day, so one start with a wrong clock deletes nothing by age.
 */
import { type Clock, DAY_MS } from './time.js';

/** A clock that is further ahead of the last recorded time is not trusted. */
export const MAX_LEAP_MS = 30 * DAY_MS;
/** A clock that has run this long, as fast as the monotonic clock, is trusted. */
export const BELIEVED_AFTER_MS = DAY_MS;
const NOTE_INTERVAL_MS = 3_600_000;
/** Difference between both clocks from which the system clock counts as set. */
const SET_MS = 60_000;

/** Stores a time, in milliseconds since the epoch, beyond the process. */
export interface TimeNote {
  /** Null before the first write. Never throws. */
  read(): number | null;
  /** Never throws: if the disk is full, the previous time stays. */
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
    // Time that passed since then in this process is real.
    return leapMs > MAX_LEAP_MS ? leapMs - ranMs : 0;
  }

  /** The last recorded time, in milliseconds since the epoch. */
  get noted(): number | null {
    return this.#noted;
  }

  /** Reads the note again, because a command may have written it, and records the time once an hour if it is trusted. */
  check(): void {
    this.#noted = this.#note.read() ?? this.#noted;
    if (this.leapMs() !== 0) return;
    const now = this.#clock.now();
    const noted = this.#noted ?? Number.NEGATIVE_INFINITY;
    // A clock that was set back deletes less. Its time is recorded once it is trusted, so that a wrong recorded time does not stay.
    const isBehind = now < noted - NOTE_INTERVAL_MS && this.#steadyMs() >= BELIEVED_AFTER_MS;
    if (now >= noted + NOTE_INTERVAL_MS || isBehind) {
      this.#note.write(now);
      this.#noted = now;
    }
  }

  /** How long the clock has run as fast as the monotonic clock. */
  #steadyMs(): number {
    const wallMs = this.#clock.now();
    const monotonicMs = this.#monotonic();
    const ranMs = monotonicMs - this.#since.monotonicMs;
    if (Math.abs(wallMs - this.#since.wallMs - ranMs) <= SET_MS) return ranMs;
    this.#since = { wallMs, monotonicMs };
    return 0;
  }
}
