import { expect } from 'chai';
import { type CreationFacts, checkCredits, decideCreation } from '../../services/contacts/creation.js';
import { createdContact } from '../../services/contacts/stored-contact.js';
import { newContact } from '../contract/search-support.js';

const contact = newContact('org', 'new');
const made = createdContact(contact, 'aud');
const duplicate = (id: string) => createdContact(newContact('org', id), 'other');
const oldest = duplicate('oldest');
const found = [oldest, duplicate('newer')];

const command = (
  onDuplicate: 'create' | 'return' | 'reject' = 'create',
  { dryRun = false, requiredCredits = 3 } = {},
) => ({ contact, onDuplicate, dryRun, requiredCredits });

/** The audience exists, and the person was not erased. */
const allowed = { hasAudience: true, isSuppressed: false };
const reserved = { kind: 'reserved', balance: 2 } as const;

describe('A decision on a creation', () => {
  const steps: [title: string, of: ReturnType<typeof command>, facts: CreationFacts, expected: unknown][] = [
    ['checks the audience first', command('reject', { dryRun: true }), {}, 'hasAudience'],
    [
      'rejects an unknown audience whatever else is known',
      command('reject'),
      { hasAudience: false, duplicates: found, credits: { kind: 'insufficient', balance: 0 } },
      { kind: 'audience_not_found' },
    ],
    ['asks whether the person was erased', command('reject'), { hasAudience: true }, 'isSuppressed'],
    [
      'keeps an erased person out',
      command('return'),
      { hasAudience: true, isSuppressed: true },
      { kind: 'contact_suppressed' },
    ],
    ['looks for duplicates before it rejects them', command('reject'), allowed, 'duplicates'],
    ['looks for duplicates before it returns them', command('return'), allowed, 'duplicates'],
    ['looks for duplicates in a dry run', command('create', { dryRun: true }), allowed, 'duplicates'],
    ['does not look for duplicates that it would accept', command('create'), allowed, 'credits'],
    [
      'rejects a duplicate before it checks the credits',
      command('reject'),
      { ...allowed, duplicates: found },
      { kind: 'contact_exists', contactId: 'oldest' },
    ],
    [
      'lets the oldest duplicate join before it reads the balance',
      command('return'),
      { ...allowed, duplicates: found },
      'joined',
    ],
    [
      'rejects a duplicate that is in too many audiences',
      command('return'),
      { ...allowed, duplicates: found, joined: null },
      { kind: 'too_many_audiences' },
    ],
    [
      'reads the balance without a charge for a returned duplicate',
      command('return'),
      { ...allowed, duplicates: found, joined: oldest },
      'balance',
    ],
    [
      'reserves credits when there is no duplicate',
      command('return'),
      { ...allowed, duplicates: [] },
      'credits',
    ],
    [
      'rejects insufficient credits before it looks at the id',
      command(),
      { ...allowed, credits: checkCredits(2, 3) },
      { kind: 'insufficient_credits', creditBalance: 2 },
    ],
    ['writes last', command(), { ...allowed, credits: reserved }, 'created'],
    [
      'rejects an id that is taken',
      command(),
      { ...allowed, credits: reserved, created: null },
      { kind: 'contact_exists', contactId: 'new' },
    ],
  ];
  for (const [title, of, facts, expected] of steps) {
    it(title, () => {
      expect(decideCreation(of, facts)).to.deep.equal(expected);
    });
  }

  it('returns a duplicate at no cost, and with null credits when the organization is not metered', () => {
    const facts = { ...allowed, duplicates: found, joined: oldest };
    expect(decideCreation(command('return'), { ...facts, balance: 5 })).to.deep.include({
      kind: 'returned',
      creditsConsumed: 0,
      creditBalance: 5,
      duplicates: ['oldest', 'newer'],
    });
    expect(decideCreation(command('return'), { ...facts, balance: null })).to.deep.include({
      creditsConsumed: null,
      creditBalance: null,
    });
  });

  it('charges a creation, and nothing when the organization is not metered', () => {
    const facts = { ...allowed, duplicates: [], created: made };
    expect(decideCreation(command(), { ...facts, credits: checkCredits(5, 3) })).to.deep.include({
      kind: 'created',
      creditsConsumed: 3,
      creditBalance: 2,
    });
    expect(decideCreation(command(), { ...facts, credits: checkCredits(null, 3) })).to.deep.include({
      creditsConsumed: null,
      creditBalance: null,
    });
  });

  it('lists at most 100 duplicates', () => {
    const duplicates = Array.from({ length: 120 }, (_, index) => duplicate(`c${index}`));
    const outcome = decideCreation(command('create', { dryRun: true }), {
      ...allowed,
      duplicates,
      credits: reserved,
      created: made,
    });
    expect(outcome).to.have.property('duplicates').with.lengthOf(100);
  });
});
