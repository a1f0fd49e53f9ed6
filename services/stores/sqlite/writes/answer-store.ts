import type { AnswerStore } from '../../../shared/idempotency.js';
import type { Clock } from '../../../shared/time.js';
import type { Writer } from './record-messages.js';

/**
 * Store of responses by idempotency key. If this process does not run the attempt that claimed a key, the attempt belongs to a process that
 * ended. Responses expire by `ageClock`.
 */
export function answerStore(writer: Writer, ageClock: Clock): AnswerStore {
  const running = new Set<string>();
  return {
    async claimAnswer(request) {
      const { organizationId, idempotency } = request;
      const name = JSON.stringify([organizationId, idempotency.route, idempotency.key]);
      if (running.has(name)) return { kind: 'idempotency_in_progress' };
      running.add(name);
      const call = writer.callFor(organizationId, 'claimAnswer', request, ageClock.now());
      const found = await call.catch((error: unknown) => {
        running.delete(name);
        throw error;
      });
      if (found.kind !== 'claimed') {
        running.delete(name);
        return found;
      }
      const ended = async (write?: Promise<unknown>) => {
        try {
          await write;
        } finally {
          running.delete(name);
        }
      };
      return {
        kind: 'claimed',
        claim: {
          keep: (answer) => ended(writer.callFor(organizationId, 'keepAnswer', { ...request, ...answer })),
          release: () => ended(writer.callFor(organizationId, 'releaseAnswer', request)),
          leave: () => ended(),
        },
      };
    },
  };
}
