import { expect } from 'chai';
import fc from 'fast-check';
import { nodeName } from '../../services/sql-endpoint/parser.js';
import { runs } from '../support/random.js';

describe('A line of a syntax tree', () => {
  it('has the name that one regular expression would find', () => {
    // The rule in one expression, which is too slow for long names.
    const rule = /^(?: (?<name>.*?))??(?: \(alias .*?\))?(?: \(children \d+\))?$/;
    const part = fc.constantFrom(
      ' ',
      'a',
      ')',
      '(',
      ' (alias ',
      ' (alias x)',
      ' (children 2)',
      ' (children ',
      '1',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const rest = parts.length === 0 ? '' : ` ${parts.join('')}`;
        for (const text of [rest, parts.join('')]) {
          const groups = rule.exec(text)?.groups;
          if (text.startsWith(' ') || text === '') expect(nodeName(text)).to.equal(groups?.name ?? '');
        }
      }),
      { numRuns: runs(2000) },
    );
  });
});
