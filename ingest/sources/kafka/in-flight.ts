/** Fetched records of one partition. */
export interface FetchedRange {
  partition: number;
  /** Offset that was fetched from, and the offset behind the last record. */
  from: bigint;
  next: bigint;
}

/** Work on a range. It reports the offset behind each commit. */
type Work = (committed: (next: bigint) => void) => Promise<void>;

interface Assignment {
  /** Changes when partitions are assigned anew. */
  readonly epoch: number;
  /** Sets the offset of the next fetch of a partition. */
  fetchFrom(partition: number, offset: bigint): void;
}

interface PartitionState {
  epoch: number;
  /** Undefined while no range is under way. */
  running: Promise<void> | undefined;
  /** Offset behind the last range that was started; undefined when the next one may begin anywhere. */
  next: bigint | undefined;
  failure: { reason: unknown } | undefined;
}

/**
 * The ranges under way, at most one per partition. kafkajs fetches again once every range of a fetch was handled; here a range counts
 * as handled when it is started, so that the next fetch runs meanwhile. The ranges of a partition are worked on one after another and
 * without a gap: after one that was not committed as a whole, the partition is fetched again from the first uncommitted record, and
 * what had been fetched behind it is dropped.
 */
export class InFlightRanges {
  readonly #assignment: Assignment;
  readonly #partitions = new Map<number, PartitionState>();

  constructor(assignment: Assignment) {
    this.#assignment = assignment;
  }

  /**
   * Starts to work on a range once the one before is done, if it follows that one and `mayStart` still says so. Resolves when it is
   * started or dropped. Rejects with the error of the range before, from which the library recovers: it waits, or joins its group again.
   */
  async start(range: FetchedRange, mayStart: () => boolean, work: Work): Promise<void> {
    const state = await this.#idle(range.partition);
    const { failure } = state;
    state.failure = undefined;
    if (failure) throw failure.reason;
    this.#run(state, range, mayStart, work);
  }

  /** As `start`, for a range that the library takes for handled: the error of the one before is left to the next call. */
  async startHandled(range: FetchedRange, mayStart: () => boolean, work: Work): Promise<void> {
    this.#run(await this.#idle(range.partition), range, mayStart, work);
  }

  /** Records of a partition were deleted: its next range may begin anywhere. */
  allowGap(partition: number): void {
    const state = this.#partitions.get(partition);
    if (state) state.next = undefined;
  }

  /** Resolves once no range is under way. */
  async settled(): Promise<void> {
    for (const state of this.#partitions.values()) while (state.running) await state.running;
  }

  /** The state of a partition, once no range of it is under way. */
  async #idle(partition: number): Promise<PartitionState> {
    let state = this.#partitions.get(partition);
    while (state?.running) await state.running;
    const { epoch } = this.#assignment;
    if (state?.epoch === epoch) return state;
    state = { epoch, running: undefined, next: undefined, failure: undefined };
    this.#partitions.set(partition, state);
    return state;
  }

  #run(state: PartitionState, range: FetchedRange, mayStart: () => boolean, work: Work): void {
    if (!mayStart()) return;
    const { partition, from, next } = range;
    if (state.next !== undefined && state.next !== from) {
      this.#assignment.fetchFrom(partition, state.next);
      return;
    }
    state.next = next;
    this.#assignment.fetchFrom(partition, next);
    let committed = from;
    const report = (offset: bigint) => {
      committed = offset;
    };
    state.running = work(report)
      .catch((reason: unknown) => {
        state.failure = { reason };
      })
      .then(() => {
        state.running = undefined;
        if (committed === next || state.epoch !== this.#assignment.epoch) return;
        state.next = committed;
        this.#assignment.fetchFrom(partition, committed);
      });
  }
}
