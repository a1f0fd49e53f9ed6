import { expect } from 'chai';
import { StoreTimeoutError, StoreUnavailableError } from '../../../services/shared/store-errors.js';
import type {
  ProcessHandlers,
  SearchProcess,
} from '../../../services/stores/sqlite/workers/process-client.js';
import type { RpcRequest } from '../../../services/stores/sqlite/workers/rpc.js';
import { SearchPool } from '../../../services/stores/sqlite/workers/search-pool.js';
import { Random, runs, SEED } from '../../support/random.js';

/** Number of schedules, with consecutive seeds. */
const SCHEDULES = runs(2000);

const STEPS = 40;
const TIMEOUT_MS = 5000;
const ORGANIZATIONS = ['org_a', 'org_b', 'org_c', 'org_d'];
const ABORTED = new Error('the caller left');
const SEND_FAILED = new Error('the arguments cannot be sent');

interface Call {
  id: number;
  organization: string;
  /** Null if the caller never leaves. */
  controller: AbortController | null;
  /** When the pool sent it to a process. */
  startedAt: number | null;
  outcomes: ('answered' | 'rejected' | 'timed out')[];
}

interface Process extends SearchProcess {
  handlers: ProcessHandlers;
  isReady: boolean;
  isEnding: boolean;
  running: Call | null;
  exit(): void;
}

interface Timer {
  at: number;
  run(): void;
}

/** One pool with simulated processes and a simulated clock; throws if a promise of the pool is broken. */
class Schedule {
  readonly #random: Random;
  readonly #maxProcesses: number;
  readonly #pool: SearchPool<{ search: (id: number) => string }>;
  readonly #processes: Process[] = [];
  readonly #timers = new Set<Timer>();
  readonly #calls: Call[] = [];
  /** Searches of other organizations that started while a waiting search could have started. */
  readonly #passedBy = new Map<string, Map<string, number>>();
  readonly #violations: string[] = [];
  #now = 0;
  #canFail = true;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#maxProcesses = 1 + this.#random.below(4);
    this.#pool = new SearchPool({
      maxProcesses: this.#maxProcesses,
      timeoutMs: TIMEOUT_MS,
      startProcess: (handlers) => this.#startProcess(handlers),
      setTimer: (run, ms) => {
        const timer = { at: this.#now + ms, run };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
    });
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      this.#step();
      await settled();
      this.#check();
    }
    this.#canFail = false;
    const isClosed = this.#random.below(4) === 0;
    const closed = isClosed ? this.#pool.close() : undefined;
    for (let step = 0; this.#calls.some(({ outcomes }) => outcomes.length === 0); step++) {
      this.#require(step < 1000, 'a call is never settled');
      this.#advance();
      await settled();
      this.#check();
    }
    for (const process of [...this.#processes]) process.exit();
    await closed;
    this.#check();
  }

  #step(): void {
    const action = this.#random.below(12);
    if (action < 5) this.#call();
    else if (action === 5) this.#pick(this.#calls)?.controller?.abort(ABORTED);
    else if (action === 6) this.#passTime(this.#random.below(2 * TIMEOUT_MS));
    else if (action === 7) this.#pick(this.#processes)?.exit();
    else this.#advance();
  }

  #call(): void {
    const organization = this.#pick(ORGANIZATIONS) as string;
    const call: Call = {
      id: this.#calls.length,
      organization,
      controller: this.#random.chance(0.2) ? new AbortController() : null,
      startedAt: null,
      outcomes: [],
    };
    this.#calls.push(call);
    this.#pool.call(organization, 'search', [call.id], call.controller?.signal).then(
      (answer) => {
        this.#require(answer === String(call.id), 'a call gets the answer of another');
        call.outcomes.push('answered');
      },
      (error: unknown) => {
        this.#require(this.#isExpected(call, error), `a call is rejected with ${String(error)}`);
        call.outcomes.push(error instanceof StoreTimeoutError ? 'timed out' : 'rejected');
      },
    );
  }

  /** A process becomes ready, responds, or exits after a kill; if there is none, time passes. */
  #advance(): void {
    const process = this.#pick(
      this.#processes.filter((each) => !each.isReady || each.isEnding || each.running),
    );
    if (!process) this.#passTime(TIMEOUT_MS);
    else if (process.isEnding) process.exit();
    else if (!process.isReady) {
      process.isReady = true;
      process.handlers.onReady();
    } else if (process.running) {
      const call = process.running;
      process.running = null;
      process.handlers.onResponse({ id: call.id, json: String(call.id) });
    }
  }

  #passTime(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers].sort((left, right) => left.at - right.at)) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
      timer.run();
    }
  }

  #startProcess(handlers: ProcessHandlers): SearchProcess {
    if (this.#canFail && this.#random.below(20) === 0) throw new Error('no process can start');
    let ended = () => {};
    const process: Process = {
      handlers,
      isReady: false,
      isEnding: false,
      running: null,
      exited: new Promise((resolve) => {
        ended = resolve;
      }),
      send: (request) => this.#send(process, request),
      kill: () => {
        process.isEnding = true;
        process.running = null;
      },
      disconnect: () => {
        process.isEnding = true;
      },
      exit: () => {
        this.#processes.splice(this.#processes.indexOf(process), 1);
        handlers.onExit(new Error('exited'));
        ended();
      },
    };
    this.#processes.push(process);
    return process;
  }

  #send(process: Process, { args: [id] }: RpcRequest): void {
    const isFree = process.isReady && !process.isEnding && !process.running;
    this.#require(isFree, 'a search is sent to a process that is not free');
    const call = this.#calls[id as number] as Call;
    this.#require(call.startedAt === null, 'a search is run twice');
    this.#require(!call.controller?.signal.aborted, 'a search is run whose caller has left');
    call.startedAt = this.#now;
    this.#countPassing(call);
    if (this.#canFail && this.#random.below(20) === 0) throw SEND_FAILED;
    process.running = call;
  }

  #countPassing({ organization }: Call): void {
    this.#passedBy.delete(organization);
    for (const other of this.#waitingAndAdmitted()) {
      if (other === organization) continue;
      const passed = this.#passedBy.get(other) ?? new Map<string, number>();
      this.#passedBy.set(other, passed.set(organization, (passed.get(organization) ?? 0) + 1));
      this.#require(passed.get(organization) === 1, 'an organization is served twice while another waits');
    }
  }

  #waiting(): Set<string> {
    const waiting = this.#calls.filter(({ startedAt, outcomes, controller }) => {
      return startedAt === null && outcomes.length === 0 && !controller?.signal.aborted;
    });
    return new Set(waiting.map(({ organization }) => organization));
  }

  #waitingAndAdmitted(): string[] {
    return [...this.#waiting()].filter((organization) => this.#mayRun(organization));
  }

  #mayRun(organization: string): boolean {
    return this.#runningOf(organization) < Math.max(1, this.#maxProcesses - 1);
  }

  #runningOf(organization: string): number {
    return this.#processes.filter(({ running }) => running?.organization === organization).length;
  }

  /** Noted rather than thrown, because the pool may catch errors of a process or a timer. */
  #require(isKept: boolean, violation: string): void {
    if (!isKept) this.#violations.push(violation);
  }

  #check(): void {
    const waiting = this.#waiting();
    for (const organization of ORGANIZATIONS) {
      if (!waiting.has(organization)) this.#passedBy.delete(organization);
    }
    this.#require(this.#processes.length <= this.#maxProcesses, 'there are too many processes');
    const most = Math.max(1, this.#maxProcesses - 1);
    this.#require(
      ORGANIZATIONS.every((organization) => this.#runningOf(organization) <= most),
      'an organization has too many processes',
    );
    if (this.#waitingAndAdmitted().length > 0) {
      const isFree = (each: Process) => each.isReady && !each.isEnding && !each.running;
      this.#require(!this.#processes.some(isFree), 'an admitted search waits beside a free process');
      this.#require(this.#processes.length > 0, 'a search waits, and no process is there');
    }
    this.#require(
      this.#processes.every(({ running }) => this.#now - (running?.startedAt ?? this.#now) < TIMEOUT_MS),
      'a search runs longer than its deadline',
    );
    if (this.#violations.length > 0) throw new Error(this.#violations.join('; '));
  }

  /** Whether the pool may settle such a call now. */
  #isExpected({ controller, startedAt }: Call, error: unknown): boolean {
    if (error === ABORTED) return controller?.signal.aborted === true;
    if (error instanceof StoreTimeoutError) return startedAt !== null && this.#now - startedAt >= TIMEOUT_MS;
    return error === SEND_FAILED || error instanceof StoreUnavailableError;
  }

  #pick<T>(values: readonly T[]): T | undefined {
    return values.length === 0 ? undefined : this.#random.pick(values);
  }

  get timeouts(): number {
    return this.#calls.filter(({ outcomes }) => outcomes.includes('timed out')).length;
  }
}

/** Lets promises settle: a few microtasks at most. */
async function settled(): Promise<void> {
  for (let tick = 0; tick < 5; tick++) await undefined;
}

describe('The search pool in random schedules', function () {
  this.timeout(120_000);

  const { stackTraceLimit } = Error;
  before(() => {
    // Capturing the stacks of expected errors would take most of the time.
    Error.stackTraceLimit = 0;
  });
  after(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });

  it(`keeps its promises in ${SCHEDULES} of them, from seed ${SEED} on`, async () => {
    let timeouts = 0;
    for (let seed = SEED; seed < SEED + SCHEDULES; seed++) {
      const schedule = new Schedule(seed);
      try {
        await schedule.run();
      } catch (error) {
        throw new Error(`TEST_RUNS_FACTOR=0.0005 TEST_SEED=${seed}: ${(error as Error).message}`, {
          cause: error,
        });
      }
      timeouts += schedule.timeouts;
    }
    expect(timeouts).to.be.above(SCHEDULES / 10);
  });
});
