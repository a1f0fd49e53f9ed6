/**
 * Judges the clock of a process that has no server to ask, by the last time that its data folder noted. A clock that leaps further is not
 * believed before it has run for a day, so one start with a wrong clock deletes nothing by age.
 */
import { type Clock, DAY_MS } from './time.js';

/** A clock that is further ahead of the last noted time is not believed. */
export const MAX_LEAP_MS = 30 * DAY_MS;
/** A clock that has run for so long, as fast as the monotonic one, is believed. */
export const BELIEVED_AFTER_MS = DAY_MS;
const NOTE_INTERVAL_MS = 3_600_000;
/** Difference between both clocks from which the system clock counts as set anew. */
const SET_MS = 60_000;

/** Keeps a time, in milliseconds since the epoch, beyond the process. */
export interface TimeNote {
  /** Null before the first. Never throws. */
  read(): number | null;
  /** Never throws: a time that cannot be noted on a full disk stays the one from before. */
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

  /** Milliseconds by which the clock is ahead of what can be believed; 0 where it can be. Reads and writes no note. */
  leapMs(): number {
    const ranMs = this.#steadyMs();
    if (this.#noted === null || ranMs >= BELIEVED_AFTER_MS) return 0;
    const leapMs = this.#clock.now() - this.#noted;
    // Time that passed since then in this process is real.
    return leapMs > MAX_LEAP_MS ? leapMs - ranMs : 0;
  }

  /** The last time that was noted, in milliseconds since the epoch. */
  get noted(): number | null {
    return this.#noted;
  }

  /** Reads the note again, which a command may have written, and notes the time once an hour where it can be believed. */
  check(): void {
    this.#noted = this.#note.read() ?? this.#noted;
    if (this.leapMs() !== 0) return;
    const now = this.#clock.now();
    const noted = this.#noted ?? Number.NEGATIVE_INFINITY;
    // A clock that went back deletes less. Its time is noted once it is believed, so that a noted time that was wrong does not stay.
    const isBehind = now < noted - NOTE_INTERVAL_MS && this.#steadyMs() >= BELIEVED_AFTER_MS;
    if (now >= noted + NOTE_INTERVAL_MS || isBehind) {
      this.#note.write(now);
      this.#noted = now;
    }
  }

  /** How long the clock has run as fast as the monotonic one. */
  #steadyMs(): number {
    const wallMs = this.#clock.now();
    const monotonicMs = this.#monotonic();
    const ranMs = monotonicMs - this.#since.monotonicMs;
    if (Math.abs(wallMs - this.#since.wallMs - ranMs) <= SET_MS) return ranMs;
    this.#since = { wallMs, monotonicMs };
    return 0;
  }
}
