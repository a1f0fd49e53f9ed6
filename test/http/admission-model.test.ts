/**
 * Admission compared with a model that knows only what each request holds: admission counts exactly what is held, in whatever order things
 * happen.
 */
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Context } from 'koa';
import {
  Admission,
  type AdmissionLimits,
  type AdmittedRequest,
  noUsage,
} from '../../services/http/admission.js';
import { Problem } from '../../services/http/problems.js';
import { runs, SEED } from '../support/random.js';

const small = { total: 9, perOrganization: 6, perKey: 4 };
const LIMITS: AdmissionLimits = {
  slots: small,
  bodies: small,
  bodyBytes: small,
  responseBytes: small,
  temporaryBytes: small,
  exports: small,
};

type Held = { bodies: number; slots: number; responseBytes: number };
const RESOURCES = ['bodies', 'slots', 'responseBytes'] as const;

interface Running {
  organizationId: string;
  keyId: string;
  held: Held;
  request: AdmittedRequest | undefined;
  res: EventEmitter & { closed?: boolean };
  finish(error?: Error): void;
  isReleased: boolean;
  isClosed: boolean;
}

/** A schedule of requests, each step of which is compared with the model. */
class Schedule {
  readonly admission = new Admission(60_000, LIMITS);
  readonly requests: Running[] = [];

  /** Whether the limits leave room, computed from the sums over all requests. */
  hasRoom(of: Running, resource: (typeof RESOURCES)[number], amount: number): boolean {
    const scopes: [number, (other: Running) => boolean][] = [
      [small.total, () => true],
      [small.perOrganization, (other) => other.organizationId === of.organizationId],
      [small.perKey, (other) => other.keyId === of.keyId],
    ];
    return scopes.every(([limit, isIn]) => {
      const used = this.requests.filter(isIn).reduce((sum, { held }) => sum + held[resource], 0);
      return used + amount <= limit || (resource === 'responseBytes' && used === 0);
    });
  }

  async arrive(organization: number, key: number, hasLeft: boolean): Promise<void> {
    const organizationId = `org_${organization}`;
    const res: Running['res'] = Object.assign(new EventEmitter(), { closed: hasLeft });
    const running: Running = {
      organizationId,
      keyId: `${organizationId}_key_${key}`,
      held: { bodies: 0, slots: 0, responseBytes: 0 },
      request: undefined,
      res,
      finish: () => undefined,
      isReleased: false,
      isClosed: hasLeft,
    };
    const fits = this.hasRoom(running, 'bodies', 1);
    let code: string | undefined;
    void this.admission
      .run({ req: { complete: true }, res } as unknown as Context, running, (request) => {
        running.request = request;
        return new Promise<void>((resolve, reject) => {
          running.finish = (error) => (error ? reject(error) : resolve());
        });
      })
      .catch((error: Error) => {
        code = (error as Partial<Problem>).code;
      });
    await turn();
    expect(code, 'arrival').to.equal(fits ? undefined : 'overloaded');
    if (fits) running.held.bodies = 1;
    else running.isReleased = true;
    this.requests.push(running);
  }

  async work(of: Running, slots: number): Promise<void> {
    if (of.isReleased) return;
    of.held.bodies = 0;
    const fits = this.hasRoom(of, 'responseBytes', 0) && this.hasRoom(of, 'slots', slots);
    await this.step(of, fits, () => of.request?.startWork(slots));
    if (fits) of.held.slots += slots;
  }

  async respond(of: Running, bytes: number, isRead: boolean): Promise<void> {
    if (!of.request || of.isClosed) return;
    const fits = !isRead || this.hasRoom(of, 'responseBytes', bytes);
    await this.step(of, fits, () => of.request?.countResponse(bytes, { isRead }));
    if (fits) of.held.responseBytes += bytes;
  }

  async step(of: Running, fits: boolean, act: () => void): Promise<void> {
    let refused: Error | undefined;
    try {
      act();
    } catch (error) {
      refused = error as Error;
    }
    expect(refused instanceof Problem ? refused.code : refused).to.equal(fits ? undefined : 'overloaded');
    if (refused) await this.end(of, refused);
  }

  async end(of: Running, error?: Error): Promise<void> {
    of.finish(error);
    await turn();
    of.isReleased = true;
    of.held.bodies = 0;
    of.held.slots = 0;
  }

  close(of: Running): void {
    if (of.isClosed) return;
    of.isClosed = true;
    of.res.closed = true;
    of.res.emit('close');
    of.held.responseBytes = 0;
  }

  check(): void {
    for (const resource of RESOURCES) {
      const held = this.requests.reduce((sum, each) => sum + each.held[resource], 0);
      expect(this.admission.total[resource], resource).to.equal(held);
    }
  }
}

const turn = () => new Promise(setImmediate);

const few = fc.integer({ min: 0, max: 2 });
const arrival = fc.record({
  does: fc.constant('arrive'),
  a: fc.integer({ min: 0, max: 1 }),
  b: fc.integer({ min: 0, max: 1 }),
  flag: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});
const step = fc.oneof(
  { arbitrary: arrival, weight: 2 },
  // Steps concern one of the latest requests, so that requests of the same key meet often.
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constantFrom('work', 'work', 'respond', 'end', 'fail', 'close', 'close'),
      a: fc.integer({ min: 0, max: 4 }),
      b: few,
      flag: fc.boolean(),
    }),
  },
);

describe('Admission beside a model', () => {
  it('counts exactly what is held, per key, organization and in total, in every order of arrivals, ends, errors and closes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 100, size: 'max' }), async (steps) => {
        const schedule = new Schedule();
        try {
          for (const { does, a, b, flag } of steps) {
            if (does === 'arrive') {
              await schedule.arrive(a, b, flag);
              continue;
            }
            const of = schedule.requests.filter(({ isClosed }) => !isClosed).at(-1 - a);
            if (!of) continue;
            if (does === 'work') await schedule.work(of, b + 1);
            if (does === 'respond') await schedule.respond(of, b + 1, flag);
            if (does === 'end') await schedule.end(of);
            if (does === 'fail') await schedule.end(of, new Error('failed'));
            if (does === 'close') schedule.close(of);
            schedule.check();
          }
        } finally {
          for (const of of schedule.requests) {
            await schedule.end(of);
            schedule.close(of);
          }
        }
        expect(schedule.admission.total).to.deep.equal(noUsage());
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });
});
