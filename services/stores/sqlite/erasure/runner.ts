import { setTimeout as sleep } from 'node:timers/promises';
import { ERASURE_WAIT_MS, type EraseCommand, type ErasureResult } from '../../../contacts/erasure-store.js';
import type { Clock } from '../../../shared/time.js';
import type { Reader } from '../reader.js';
import type { Writer } from '../writes/record-messages.js';
import { hasPendingErasures, readErasure, unfinishedErasures } from './proofs.js';

const POLL_MS = 10;

/** Pause after a step that failed, on a full disk for example. */
const RETRY_MS = 1000;

interface ErasureRunnerDeps {
  writer: Writer;
  reader: Reader;
  clock: Clock;
  /** Awaited before each step; where it throws, the step is tried again after a pause. */
  beforeStep?(): Promise<void>;
}

/** Sends the steps of erasures to the writer, one after the other: those of an organization take turns with its other writes. */
export class ErasureRunner {
  readonly #deps: ErasureRunnerDeps;
  /** Ends the pauses of a process that ends. */
  readonly #closing = new AbortController();

  constructor(deps: ErasureRunnerDeps) {
    this.#deps = deps;
  }

  /** Throws only where the erasure did not begin: it goes on after a later failure, and after a restart. */
  async erase(command: EraseCommand): Promise<ErasureResult> {
    const { writer, reader, clock } = this.#deps;
    const { organizationId, proofId } = command;
    await writer.callFor(organizationId, 'beginErasure', command, clock.now());
    const erased: string[] = [];
    let related: string[] = [];
    const removal = this.#removeAll(organizationId, proofId, (progress) => {
      erased.push(...progress.erased);
      if (progress.related.length > 0) related = progress.related;
    });
    const waiting = new AbortController();
    const timeout = pause(ERASURE_WAIT_MS.removal, waiting.signal).then(() => false);
    const isRemoved = await Promise.race([removal, timeout]);
    waiting.abort();
    if (isRemoved) await this.#untilComplete(proofId);
    const proof = reader.read((connection) => readErasure(connection, proofId));
    return { erased: [...erased], related, proof };
  }

  /** Goes on with the erasures that a process left. */
  resume(): void {
    const { writer, reader } = this.#deps;
    const { pending, unfinished } = reader.read((connection) => ({
      pending: hasPendingErasures(connection),
      unfinished: unfinishedErasures(connection),
    }));
    for (const { id, organizationId } of unfinished) void this.#removeAll(organizationId, id, () => {});
    if (pending) void writer.call('wake').catch(() => undefined);
  }

  close(): void {
    this.#closing.abort();
  }

  /** Resolves with true when no contact of the person is left, with false when the process ends before. */
  async #removeAll(
    organizationId: string,
    proofId: string,
    onStep: (progress: { erased: string[]; related: string[] }) => void,
  ): Promise<boolean> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#deps.beforeStep?.();
        const progress = await this.#deps.writer.callFor(organizationId, 'eraseStep', proofId);
        onStep(progress);
        if (progress.isRemoved) return true;
      } catch {
        // The next write reports why.
        await pause(RETRY_MS, this.#closing.signal);
      }
    }
    return false;
  }

  async #untilComplete(proofId: string): Promise<void> {
    const end = performance.now() + ERASURE_WAIT_MS.completion;
    while (performance.now() < end && !this.#closing.signal.aborted) {
      const { completed_at } = this.#deps.reader.read((connection) => readErasure(connection, proofId));
      if (completed_at !== null) return;
      await pause(POLL_MS, this.#closing.signal);
    }
  }
}

/** Ends early where the signal aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
