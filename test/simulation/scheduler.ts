import { Random } from '../../services/demo/random.js';

/** A process of the simulation. After a crash, none of its awaits settles. */
export interface Actor {
  name: string;
  crashed: boolean;
  /** Virtual milliseconds until which the process is frozen. */
  frozenUntil: number;
}

interface Wakeup {
  at: number;
  order: number;
  actor: Actor | null;
  label: string;
  resume(): void;
}

/** Steps after which a schedule counts as stuck; a schedule that makes progress needs fewer. */
const MAX_STEPS = 20_000;

/**
 * Virtual time and random numbers of one schedule. Everything that takes time waits in one queue, whose wakeups are resumed in the
 * order of virtual time; the seed decides how long each takes. Nothing reads the real clock, so that a seed repeats its schedule.
 */
export class Scheduler {
  readonly random: Random;
  now = 1_700_000_000_000;
  steps = 0;
  readonly #queue: Wakeup[] = [];
  #added = 0;
  /** Events in order; null unless the log is kept. */
  readonly #log: string[] | null;
  #hash = 0x811c9dc5;

  constructor(seed: number, { keepLog = false } = {}) {
    this.random = new Random(`simulation ${seed}`);
    this.#log = keepLog ? [] : null;
  }

  /** Hash of the log: equal for two schedules with the same events in the same order. */
  get digest(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  get log(): readonly string[] {
    return this.#log ?? [];
  }

  note(text: string): void {
    const line = `${this.now - 1_700_000_000_000} ${text}`;
    for (let index = 0; index < line.length; index++) {
      this.#hash = Math.imul(this.#hash ^ line.charCodeAt(index), 0x01000193);
    }
    this.#log?.push(line);
  }

  /** Takes up to `mostMs` of virtual time. */
  step(actor: Actor | null, label: string, mostMs = 10): Promise<void> {
    return this.sleep(actor, label, this.random.between(0, mostMs));
  }

  sleep(actor: Actor | null, label: string, milliseconds: number): Promise<void> {
    return new Promise((resume) => {
      this.#push({ at: this.now + milliseconds, order: this.#added++, actor, label, resume });
    });
  }

  /** Resumes one wakeup after another until `isDone`; false if nothing is left to resume, or it takes too long. */
  async run(isDone: () => boolean): Promise<boolean> {
    await settled();
    while (!isDone()) {
      const wakeup = this.#pop();
      if (!wakeup || this.steps++ > MAX_STEPS) return false;
      const { actor } = wakeup;
      if (actor?.crashed) continue;
      this.now = Math.max(this.now, wakeup.at);
      if (actor && actor.frozenUntil > this.now) {
        this.#push({ ...wakeup, at: actor.frozenUntil, order: this.#added++ });
        continue;
      }
      this.note(actor ? `${actor.name}: ${wakeup.label}` : wakeup.label);
      wakeup.resume();
      await settled();
    }
    return true;
  }

  #push(wakeup: Wakeup): void {
    const queue = this.#queue;
    let index = queue.push(wakeup) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(wakeup, queue[parent] as Wakeup)) break;
      queue[index] = queue[parent] as Wakeup;
      index = parent;
    }
    queue[index] = wakeup;
  }

  #pop(): Wakeup | undefined {
    const queue = this.#queue;
    const first = queue[0];
    const last = queue.pop();
    if (first === undefined || last === undefined || queue.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= queue.length) break;
      if (child + 1 < queue.length && isBefore(queue[child + 1] as Wakeup, queue[child] as Wakeup)) child++;
      if (!isBefore(queue[child] as Wakeup, last)) break;
      queue[index] = queue[child] as Wakeup;
      index = child;
    }
    queue[index] = last;
    return first;
  }
}

const isBefore = (left: Wakeup, right: Wakeup) =>
  left.at < right.at || (left.at === right.at && left.order < right.order);

/** Resolves after every promise that does not wait for the scheduler. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
