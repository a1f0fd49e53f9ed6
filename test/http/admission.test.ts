import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { Context } from 'koa';
import {
  ADMISSION_LIMITS,
  Admission,
  type AdmittedRequest,
  MIN_EXPORT_RATE,
  noUsage,
} from '../../services/http/admission.js';
import { Problem } from '../../services/http/problems.js';
import { InFlightBytes } from '../../services/stores/common/in-flight-bytes.js';

describe('Admission', () => {
  let now = 0;
  let admission: Admission;
  const ends: (() => Promise<void>)[] = [];
  beforeEach(() => {
    now = 0;
    admission = new Admission(60_000, ADMISSION_LIMITS, () => now);
  });

  /** Starts a request that does not end by itself. */
  async function begin(organizationId: string, keyId: string, start: (request: AdmittedRequest) => void) {
    const res = new EventEmitter();
    const outcome = { code: undefined as string | undefined };
    let finish: () => void = () => undefined;
    const run = admission
      .run({ req: { complete: true }, res } as unknown as Context, { organizationId, keyId }, (request) => {
        start(request);
        return new Promise<void>((resolve) => {
          finish = resolve;
        });
      })
      .catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        outcome.code = error.code;
      });
    await new Promise(setImmediate);
    const end = async () => {
      finish();
      await run;
      res.emit('close');
    };
    ends.push(end);
    return { outcome, end };
  }
  // The deadlines of requests would otherwise keep the process alive.
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

  it('gives an organization less than all of everything, with however many keys', () => {
    for (const [resource, { total, perOrganization, perKey }] of Object.entries(ADMISSION_LIMITS)) {
      expect(perOrganization, resource).to.be.below(total).and.at.least(perKey);
    }
  });

  it('no longer counts the answer of a store as in flight once its request is answered', async () => {
    const inFlight = new InFlightBytes(1);
    const { end } = await begin('org', 'a', ({ signal }) => inFlight.hold(1, signal));
    expect(inFlight.isFull).to.equal(true);
    await end();
    expect(inFlight.isFull).to.equal(false);
  });

  it('counts no answer of a store that comes once its request is answered', async () => {
    const inFlight = new InFlightBytes(1);
    let hold = () => {};
    const { end } = await begin('org', 'a', (request) => {
      hold = () => inFlight.hold(1, request.signal);
    });
    await end();
    hold();
    expect(inFlight.isFull).to.equal(false);
  });

  it('limits the slots of all keys of an organization together, and forgets what ended', async () => {
    const { perOrganization, perKey } = ADMISSION_LIMITS.slots;
    const first = await begin('org', 'a', (request) => request.startWork(perKey));
    const second = await begin('org', 'b', (request) => request.startWork(perOrganization - perKey));
    const third = await begin('org', 'c', (request) => request.startWork(1));
    expect([first.outcome.code, second.outcome.code, third.outcome.code]).to.deep.equal([
      undefined,
      undefined,
      'overloaded',
    ]);
    const other = await begin('elsewhere', 'd', (request) => request.startWork(1));
    expect(other.outcome.code).to.equal(undefined);
    for (const { end } of [first, second, third, other]) await end();
    expect(admission.total).to.deep.equal(noUsage());
    const again = await begin('org', 'c', (request) => request.startWork(perKey));
    expect(again.outcome.code).to.equal(undefined);
    await again.end();
  });

  /** Two exports of each of these organizations, by two keys, which read `bytes` every second for a minute. */
  async function exportFor(organizations: Record<string, number>) {
    const begun: {
      organization: string;
      bytes: number;
      request: AdmittedRequest;
      code(): string | undefined;
    }[] = [];
    for (const [organization, bytes] of Object.entries(organizations)) {
      for (const key of ['a', 'b']) {
        let request: AdmittedRequest | undefined;
        const { outcome } = await begin(organization, `${organization}-${key}`, (admitted) => {
          request = admitted;
          admitted.startExport();
        });
        begun.push({ organization, bytes, request: request as AdmittedRequest, code: () => outcome.code });
      }
    }
    const read = (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        now += 1000;
        for (const { bytes, request } of begun) request.progressed(bytes);
      }
    };
    const codes = () => begun.map(({ organization, code }) => `${organization} ${code() ?? 'runs'}`);
    return { read, codes };
  }

  const startExport = async (organization: string) =>
    (await begin(organization, `${organization}-late`, (request) => request.startExport())).outcome.code;

  it('keeps an export for organizations without one, and gives each at most two', async () => {
    const fast = MIN_EXPORT_RATE;
    const { read, codes } = await exportFor({ a: fast, b: fast, c: fast, d: fast });
    expect(codes().slice(-2)).to.deep.equal(['d runs', 'd overloaded']);
    expect(await startExport('a')).to.equal('overloaded');
    read(61);
    expect(await startExport('e')).to.equal(undefined);
    expect(await startExport('f')).to.equal('overloaded');
    expect(codes().filter((code) => code.endsWith('runs'))).to.have.lengthOf(7);
  });

  it('ends the slowest export of the organization with most, once another one waits for its place', async () => {
    const { read, codes } = await exportFor({ a: 1e6, b: MIN_EXPORT_RATE / 2, c: 1000, d: 10 });
    expect(await startExport('e')).to.equal(undefined);
    read(59);
    expect(await startExport('f'), 'within the first minute').to.equal('overloaded');
    read(2);
    expect(await startExport('f')).to.equal(undefined);
    await new Promise(setImmediate);
    const ended = [
      'a runs',
      'a runs',
      'b runs',
      'b runs',
      'c overloaded',
      'c runs',
      'd runs',
      'd overloaded',
    ];
    expect(codes()).to.deep.equal(ended);
  });
});
