import { expect } from 'chai';
import type { Answer } from './gateway.js';
import { problemFaults, storeWords } from './schema-check.js';

/** Expects this problem, as documented, without any word of a store. */
export function expectProblem(answer: Answer, status: number, code: string, extras: object = {}): void {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers.get('Content-Type')).to.equal('application/problem+json; charset=utf-8');
  expect(answer.body).to.deep.include({ code, ...extras });
  expect(problemFaults(status, answer.body)).to.deep.equal([]);
  expect(answer.body.request_id).to.equal(answer.headers.get('X-Request-Id'));
  expect(storeWords(answer.text)).to.equal(null);
}

/** Each broken rule as `pointer code`. */
export const brokenRules = (answer: Answer): string[] =>
  (answer.body.errors as { pointer: string; code: string }[]).map(
    ({ pointer, code }) => `${pointer} ${code}`,
  );

/** Expects a 422 with exactly these rules, each as `pointer code`. */
export function expectRules(answer: Answer, rules: readonly string[]): void {
  expectProblem(answer, 422, 'validation_failed');
  expect(brokenRules(answer)).to.deep.equal(rules);
}
