import type { Idempotency, IdempotencyConflict } from '../../../shared/idempotency.js';
import type { Clock } from '../../../shared/time.js';
import type { Result } from '../workers/rpc.js';
import type { Writer } from './record-messages.js';
import type { WriteOperations } from './write-operations.js';

/** Operations with an idempotency key. */
type IdempotentOperation = {
  [Name in keyof WriteOperations]: Parameters<WriteOperations[Name]> extends [
    { idempotency?: Idempotency },
    now: number,
    keptMs: number,
  ]
    ? Name
    : never;
}[keyof WriteOperations];

export type WriteOnce = <Name extends IdempotentOperation>(
  organizationId: string,
  operation: Name,
  command: Parameters<WriteOperations[Name]>[0],
) => Promise<Result<WriteOperations[Name]> | IdempotencyConflict>;

/** Sends operations to the writer, except operations whose idempotency key is in progress. Stored responses expire by `ageClock`. */
export function writeOnceWith(writer: Writer, clock: Clock, ageClock: Clock): WriteOnce {
  const running = new Set<string>();
  return async (organizationId, operation, command) => {
    const { idempotency } = command as { idempotency?: Idempotency };
    const args = [command, clock.now(), ageClock.now()] as unknown as Parameters<
      WriteOperations[typeof operation]
    >;
    const write = () => writer.callFor(organizationId, operation, ...args);
    if (!idempotency) return write();
    const name = JSON.stringify([organizationId, idempotency.route, idempotency.key]);
    if (running.has(name)) return { kind: 'idempotency_in_progress' };
    running.add(name);
    try {
      return await write();
    } finally {
      running.delete(name);
    }
  };
}
