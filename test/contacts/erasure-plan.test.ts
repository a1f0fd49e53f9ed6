import { expect } from 'chai';
import { identifiersOfErasure, MAX_RELATED, planErasure } from '../../services/contacts/erasure-plan.js';
import { type Identifier, identifiersOf } from '../../services/contacts/suppression.js';
import { newContact } from '../contract/search-support.js';

/** By id: email addresses, and the profile address where there is one. */
type People = Record<string, { emails?: string[]; profile?: string }>;

const bodyOf = (id: string, { emails = [], profile }: People[string]) =>
  newContact('org_a', id, { work_emails: emails, network_a_url: profile ?? null });

const textOf = ({ kind, value }: Identifier) => `${kind} ${value}`;
const email = (value: string): Identifier => ({ kind: 'email', value });
const ANN = 'ann@x.example';
const SHARED = 'team@x.example';
const PROFILE = 'https://social.example/in/ann';
const profileOfAnn = 'profile social.example/in/ann';

/** Plans as a store does: `stay` are the contacts that no erasure is removing. */
function plan(erased: People, stay: People, named: Identifier[] = []) {
  const bodies = (people: People) => Object.entries(people).map(([id, each]) => bodyOf(id, each));
  const staying = bodies(stay).map((body) => ({
    id: body.contact_id,
    identifiers: new Set(identifiersOf(body).map(textOf)),
  }));
  const { suppressed, related } = planErasure(
    identifiersOfErasure(named, bodies(erased)).map((identifier) => ({
      identifier,
      holderIds: staying.filter(({ identifiers }) => identifiers.has(textOf(identifier))).map(({ id }) => id),
    })),
  );
  return { suppressed: suppressed.map(textOf).sort(), related };
}

describe('The plan of an erasure', () => {
  const cases: {
    name: string;
    erased: People;
    stay?: People;
    named?: Identifier[];
    suppressed: string[];
    related?: string[];
  }[] = [
    { name: 'of nobody suppresses nothing', erased: {}, suppressed: [] },
    {
      name: 'suppresses what is named although nobody has it',
      erased: {},
      named: [email(ANN)],
      suppressed: [`email ${ANN}`],
    },
    {
      name: 'suppresses every identifier of a contact',
      erased: { ann: { emails: [ANN, SHARED], profile: PROFILE } },
      suppressed: [`email ${ANN}`, `email ${SHARED}`, 'id ann', profileOfAnn],
    },
    {
      name: 'suppresses what only duplicates that go together have',
      erased: { ann: { emails: [ANN] }, ann2: { emails: [ANN], profile: PROFILE } },
      stay: { bob: { emails: ['bob@x.example'] } },
      suppressed: [`email ${ANN}`, 'id ann', 'id ann2', profileOfAnn],
    },
    {
      name: 'lets what another contact shares in, and names that contact',
      erased: { ann: { emails: [ANN, SHARED] } },
      stay: { bob: { emails: [SHARED] } },
      suppressed: [`email ${ANN}`, 'id ann'],
      related: ['bob'],
    },
    {
      name: 'of one duplicate suppresses its id alone where the other stays',
      erased: { ann: { emails: [ANN], profile: PROFILE } },
      stay: { ann2: { emails: [ANN], profile: PROFILE } },
      suppressed: ['id ann'],
      related: ['ann2'],
    },
    {
      name: 'lets what is named in where a contact that stays has it',
      erased: {},
      stay: { bob: { emails: [SHARED] } },
      named: [email(SHARED)],
      suppressed: [],
      related: ['bob'],
    },
    {
      name: 'suppresses once what is named and found in several spellings',
      erased: { ann: { emails: ['Ann@X.example', ANN] } },
      named: [email(ANN)],
      suppressed: [`email ${ANN}`, 'id ann'],
    },
    {
      name: 'names contacts that stay once, by id, whatever they share',
      erased: { ann: { emails: [ANN, SHARED], profile: PROFILE } },
      stay: { cid: { emails: [ANN, SHARED] }, bob: { emails: [SHARED], profile: PROFILE } },
      suppressed: ['id ann'],
      related: ['bob', 'cid'],
    },
  ];

  for (const { name, erased, stay = {}, named = [], suppressed, related = [] } of cases) {
    it(name, () => {
      expect(plan(erased, stay, named)).to.deep.equal({ suppressed, related });
    });
  }

  it('names as many contacts that stay as a result holds', () => {
    const holderIds = Array.from({ length: MAX_RELATED + 1 }, (_, index) => `con_${1000 + index}`);
    expect(planErasure([{ identifier: email(SHARED), holderIds: [...holderIds].reverse() }])).to.deep.equal({
      suppressed: [],
      related: holderIds.slice(0, MAX_RELATED),
    });
  });
});
