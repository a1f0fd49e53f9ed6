/**
 * An erasure from the view of its request: the writer begins the erasure, a job carries it out, and the request waits for the job as long
 * as a request may take.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ERASURE_WAIT_MS, type EraseCommand, type ErasureResult } from '../../../contacts/erasure-store.js';
import type { Clock } from '../../../shared/time.js';
import type { HideContacts } from '../../common/sql-copy.js';
import type { JobRunner } from '../jobs/job-runner.js';
import type { Reader } from '../reader.js';
import type { Writer } from '../writes/record-messages.js';
import { readErasure } from './proofs.js';

const POLL_MS = 10;

export interface ErasureDeps {
  writer: Writer;
  reader: Reader;
  clock: Clock;
  jobs: JobRunner;
  hide: HideContacts | undefined;
}

/** Throws only if the erasure did not begin. After a later failure or a restart, the job continues the erasure. */
export async function eraseContacts(
  { writer, reader, clock, jobs, hide }: ErasureDeps,
  command: EraseCommand,
): Promise<ErasureResult> {
  const { organizationId, proofId } = command;
  const erased: string[] = [];
  let related: string[] = [];
  const { done } = await jobs.begin(
    { id: proofId, kind: 'erase-contacts', organizationId },
    () => writer.callFor(organizationId, 'beginErasure', command, clock.now()),
    (progress) => {
      erased.push(...progress.erased);
      related = progress.related;
    },
  );
  const proof = () => reader.read((connection) => readErasure(connection, proofId));
  const waiting = new AbortController();
  const timeout = pause(ERASURE_WAIT_MS.removal, waiting.signal).then(() => false);
  const isRemoved = await Promise.race([done, timeout]);
  waiting.abort();
  // If this fails, the follower of the feed of changes removes the contacts.
  await hide?.(organizationId, erased).catch(() => undefined);
  if (isRemoved) {
    const end = performance.now() + ERASURE_WAIT_MS.completion;
    while (performance.now() < end && proof().completed_at === null) await pause(POLL_MS);
  }
  return { erased: [...erased], related, proof: proof() };
}

/** Ends early if the signal aborts. */
const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
