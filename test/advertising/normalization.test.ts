import { expect } from 'chai';
import fc from 'fast-check';
import {
  caseKey,
  isKnownObjective,
  isKnownStatus,
  objectiveKey,
  statusKey,
} from '../../services/advertising/normalization.js';

describe('the forms in which advertising text is compared', () => {
  it('do not depend on case, in any script', () => {
    for (const [one, other] of [
      ['ÉCLAIR', 'éclair'],
      ['STRASSE', 'straße'],
      ['ΟΔΟΣ', 'οδος'],
      ['ПРИВЕТ', 'привет'],
      ['e\u0301', 'É'],
      ['ǅ', 'ǆ'],
    ] as const) {
      expect(caseKey(one)).to.equal(caseKey(other));
    }
    expect(caseKey('É')).not.to.equal(caseKey('e'));
    expect(caseKey('İstanbul')).to.contain(caseKey('stanbul'));
  });

  it('are idempotent and the same for upper case', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(caseKey(caseKey(text))).to.equal(caseKey(text));
        expect(caseKey(text.toUpperCase())).to.equal(caseKey(text));
      }),
    );
  });

  it('take spellings of a status and an objective for one', () => {
    expect(statusKey('cancelled')).to.equal(statusKey('CANCELED'));
    expect(objectiveKey('website_visit')).to.equal(objectiveKey('WEBSITE_VISITS'));
    expect(objectiveKey('BRAND_AWARENESS')).to.equal(objectiveKey('brand_awareness'));
  });

  it('know the values of the contract and no others', () => {
    for (const status of ['active', 'PENDING_DELETION', 'Cancelled'])
      expect(isKnownStatus(status)).to.equal(true);
    for (const status of ['', 'ACTIVES', 'FOO']) expect(isKnownStatus(status)).to.equal(false);
    for (const objective of ['LEAD_GENERATION', 'video_view', 'JOB_APPLICANT', 'BRAND_AWARENESS']) {
      expect(isKnownObjective(objective)).to.equal(true);
    }
    expect(isKnownObjective('FOO')).to.equal(false);
  });
});
