import { expect } from 'chai';
import fc from 'fast-check';
import {
  AddContactRequest,
  ContactRecord,
  CreateContactRequest,
  SearchContactsRequest,
} from '../../services/contacts/schema.js';
import { compileValidator } from '../../services/shared/validation.js';
import { VisitRecord } from '../../services/visits/schema.js';
import { runs } from '../support/random.js';
import { wordsOf } from '../support/words.js';

const organization = { organization_id: 'org_a' };

describe('Validation', () => {
  it('returns every violation at once, with its pointer', () => {
    const errors = compileValidator(CreateContactRequest)({
      ...organization,
      first_name: 7,
      age: 151,
      work_emails: ['ada@example.com', 'not an email'],
      phones: 'x',
    });
    expect(errors.map(({ pointer, code }) => [pointer, code])).to.have.deep.members([
      ['/audience_id', 'required'],
      ['/first_name', 'invalid_type'],
      ['/age', 'too_large'],
      ['/work_emails/1', 'invalid_email'],
      ['/phones', 'invalid_type'],
    ]);
  });

  it('takes email addresses with letters of every script (RFC 6531)', () => {
    const problems = (email: string) =>
      compileValidator(CreateContactRequest)({ ...organization, audience_id: 'a', work_emails: [email] }).map(
        ({ code }) => code,
      );
    const good = wordsOf(`ann.lee+tag@x.example o'neill@x.example jörg@müller.example
      jörg@xn--mller-kva.example иван@пример.рф 李静@例子.公司 राम@उदाहरण.भारत`);
    for (const email of good) expect(problems(email), email).to.deep.equal([]);
    const bad = wordsOf(`ann ann@ @x.example ann@x ann@@x.example ann.@x.example .ann@x.example ann@-x.example
      ann@x..example ann@xn--a.example <ann@x.example> ann@x.example,`);
    bad.push('a b@x.example', 'ann\u00a0lee@x.example');
    for (const email of bad) expect(problems(email), email).to.deep.equal(['invalid_email']);
  });

  it('takes an email address in ASCII exactly when it takes it with another letter', () => {
    const validate = compileValidator(ContactRecord);
    const isValid = (email: string) =>
      validate({ ...organization, contact_id: 'c', work_emails: [email] }).length === 0;
    const part = fc.constantFrom(' ', ...wordsOf("a B 1 . - _ ' @ xn-- x.example @b.example"));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        expect(isValid(`a${parts.join('')}`)).to.equal(isValid(`aé${parts.join('')}`));
      }),
      { numRuns: runs(500) },
    );
    expect(isValid("Ada.O'Neil+x@mail.example.com")).to.equal(true);
  });

  it('returns one error for a list that is too long, whatever its items', () => {
    const phones = Array.from({ length: 500_000 }, () => 0);
    const errors = compileValidator(CreateContactRequest)({ ...organization, audience_id: 'a', phones });
    expect(errors.map(({ pointer, code }) => [pointer, code])).to.deep.equal([['/phones', 'too_many_items']]);
  });

  it('returns at most 100 errors for a long list of invalid items', () => {
    const audience_ids = Array.from({ length: 900 }, (_, index) => (index % 2 === 0 ? '' : 'aud_1'));
    const errors = compileValidator(ContactRecord)({ ...organization, contact_id: 'a', audience_ids });
    expect(errors).to.have.lengthOf(100);
    expect(errors.at(-1)?.pointer).to.equal('/audience_ids/198');
    const good = audience_ids.map(() => 'aud_1');
    expect(
      compileValidator(ContactRecord)({ ...organization, contact_id: 'a', audience_ids: good }),
    ).to.deep.equal([]);
  });

  const guesses = [
    ['firstName', 'first_name'],
    ['frist_name', 'first_name'],
    ['Query', 'query'],
    ['linkedin_url', 'network_a_url'],
    ['linkedinUrl', 'network_a_url'],
    ['linkedin', null],
    ['state', null],
  ] as const;
  for (const [given, meant] of guesses) {
    it(`${meant ? `suggests ${meant} for ${given}` : `suggests nothing for ${given}`}`, () => {
      const [error] = compileValidator(SearchContactsRequest)({ ...organization, [given]: 'x' });
      expect(error).to.include({ pointer: `/${given}`, code: 'unknown_field' });
      if (meant) expect(error?.detail).to.include(`Did you mean ${meant}?`);
      else expect(error?.detail).not.to.include('Did you mean');
    });
  }

  it('names the field and the index, and quotes a name with spaces or punctuation', () => {
    const details = (body: object) =>
      compileValidator(CreateContactRequest)(body).map(({ detail }) => detail);
    const good = { ...organization, audience_id: 'a' };
    expect(details({ ...good, work_emails: ['a@b.example', 'bad'] })).to.deep.equal([
      'work_emails[1] must be an email address.',
    ]);
    expect(details({ ...good, '': 1, 'a b': 1 })).to.deep.equal([
      '"" is not a field of this request.',
      '"a b" is not a field of this request.',
    ]);
    expect(details({ ...good, age: JSON.parse('1e400') })).to.deep.equal([
      'age must be an integer, not a number too large to be kept.',
    ]);
    expect(details({ ...good, age: 1.5 })).to.deep.equal(['age must be an integer, not a fraction.']);
    expect(details(null as never)).to.deep.equal(['The body must be an object, not null.']);
  });

  it('escapes names in pointers', () => {
    const [error] = compileValidator(AddContactRequest)({ audience_id: 'a', contact_id: 'c', 'a/b~c': 1 });
    expect(error?.pointer).to.equal('/a~1b~0c');
  });

  const moments: [string, boolean][] = [
    ['2026-02-28T12:00:00Z', true],
    ['2026-02-28T12:00:00.123456+05:30', true],
    ['2024-02-29T00:00:00-00:00', true],
    ['2026-02-29T12:00:00Z', false],
    ['2026-02-28T12:00:00', false],
    ['2026-02-28 12:00:00Z', true],
    ['2024-03-12T09:14:00.000+0000', true],
    ['2026-11-20 10:00:00.1+00', true],
    ['2026-11-20 10:00:00', false],
    ['2026-02-28T24:00:01Z', false],
    ['2016-12-31T23:59:60Z', false],
    ['2026-02-28', false],
    ['yesterday', false],
  ];
  for (const [createdAt, good] of moments) {
    it(`${good ? 'accepts' : 'rejects'} the timestamp ${createdAt}`, () => {
      const errors = compileValidator(VisitRecord)({ id: 'v', organizationId: 'o', createdAt });
      expect(errors.map(({ code }) => code)).to.deep.equal(good ? [] : ['invalid_date_time']);
    });
  }
});
