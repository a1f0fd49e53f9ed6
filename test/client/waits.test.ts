import { expect } from 'chai';
import fc from 'fast-check';
import { createClient } from '../../services/client/index.js';
import { retryAfterMs } from '../../services/client/problems.js';
import { runs } from '../support/random.js';

const NOW = Date.parse('2026-11-28T10:00:00Z');
const date = (ms: number) => new Date(ms).toUTCString();

describe('How long the client waits', () => {
  const rows: [retryAfter: string, serverTime: string | undefined, expected: number | undefined][] = [
    ['0', undefined, 0],
    ['3', undefined, 3000],
    ['1.5', undefined, 1500],
    ['0.0001', undefined, 1],
    ['90', undefined, 90_000],
    ['-5', undefined, undefined],
    ['-1.5', undefined, undefined],
    ['1e3', undefined, undefined],
    ['soon', undefined, undefined],
    ['', undefined, undefined],
    ['2026', undefined, 2_026_000],
    [date(NOW + 5000), date(NOW), 5000],
    [date(NOW - 5000), date(NOW), 0],
    // The clock of the server is a year slow or fast.
    [date(NOW - 31_536_000_000 + 7000), date(NOW - 31_536_000_000), 7000],
    [date(NOW + 31_536_000_000 + 7000), date(NOW + 31_536_000_000), 7000],
  ];
  for (const [text, time, expected] of rows) {
    it(`is ${expected} ms at least after Retry-After: ${text}${time === undefined ? '' : ` at ${time}`}`, () => {
      const headers = new Headers({ 'Retry-After': text, ...(time && { Date: time }) });
      expect(retryAfterMs(headers)).to.equal(expected);
    });
  }

  it('is never less than the backoff, nor less than what the server asks for, whatever it asks for', async () => {
    const asked = fc.oneof(
      fc.constantFrom('0', '-5', '1.5', '0.1', 'soon', '', date(0), date(NOW), '1e9'),
      fc.nat({ max: 3 }).map(String),
      fc.string({ maxLength: 8 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
    );
    const answer = fc.record({ asked, status: fc.constantFrom(429, 503, 502, 409) });
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 4 }), async (answers) => {
        const left = [...answers];
        const waits: { waitMs: number; attempt: number; asked: number }[] = [];
        const abort = new AbortController();
        const client = createClient({
          apiKey: 'any',
          organizationId: 'org_a',
          fetch: async () => {
            const next = left.shift();
            return next
              ? new Response('{}', { status: next.status, headers: { 'Retry-After': next.asked } })
              : new Response('{}');
          },
          // No time passes: the wait ends with the signal of the call.
          onRetry: ({ waitMs, attempt, error }) => {
            waits.push({ waitMs, attempt, asked: (error as { retryAfterMs?: number }).retryAfterMs ?? 0 });
            abort.abort();
          },
        });
        await client.call('/api/credits/get', {}, { signal: abort.signal }).catch(() => undefined);
        for (const { waitMs, attempt, asked } of waits) {
          expect(waitMs).to.be.at.least(Math.min(16_000, 250 * 2 ** attempt) / 2);
          expect(waitMs).to.be.at.least(asked).and.at.most(60_000);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
