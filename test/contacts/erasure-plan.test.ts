import { expect } from 'chai';
import {
  foundIdentifiers,
  MAX_RELATED,
  mergeRelated,
  planErasure,
} from '../../services/contacts/erasure-plan.js';
import { type Identifier, identifiersOf } from '../../services/contacts/suppression.js';
import { newContact } from '../contract/record-store-support.js';

/** By id: email addresses, and the profile address if there is one. */
type People = Record<string, { emails?: string[]; profile?: string }>;

const bodyOf = (id: string, { emails = [], profile }: People[string]) =>
  newContact('org_a', id, { work_emails: emails, network_a_url: profile ?? null });

const textOf = ({ kind, value }: Identifier) => `${kind} ${value}`;
const email = (value: string): Identifier => ({ kind: 'email', value });
const ANN = 'ann@x.example';
const SHARED = 'team@x.example';
const PROFILE = 'https://social.example/in/ann';
const profileOfAnn = 'profile social.example/in/ann';

/** Plans as a store does, one removed contact after another: `others` are contacts that have none of the named identifiers. */
function plan(erased: People, others: People, named: Identifier[] = []) {
  const bodies = (people: People) => Object.entries(people).map(([id, each]) => bodyOf(id, each));
  const staying = bodies(others).map((body) => ({
    id: body.contact_id,
    identifiers: new Set(identifiersOf(body).map(textOf)),
  }));
  const plans = bodies(erased).map((body) =>
    planErasure(
      foundIdentifiers(named, body).map((identifier) => ({
        identifier,
        holderIds: staying
          .filter(({ identifiers }) => identifiers.has(textOf(identifier)))
          .map(({ id }) => id),
      })),
    ),
  );
  const suppressed = plans.flatMap((each) => each.suppressed.map(textOf));
  return {
    suppressed: [...new Set(suppressed)].sort(),
    related: mergeRelated(plans.flatMap((each) => each.related)),
  };
}

describe('The plan of an erasure', () => {
  const cases: {
    name: string;
    erased: People;
    others?: People;
    named?: Identifier[];
    suppressed: string[];
    related?: string[];
  }[] = [
    { name: 'of nobody finds nothing', erased: {}, named: [email(ANN)], suppressed: [] },
    {
      name: 'suppresses every identifier of a contact but the named one, which is suppressed before',
      erased: { ann: { emails: [ANN, SHARED], profile: PROFILE } },
      named: [email(ANN)],
      suppressed: [`email ${SHARED}`, 'id ann', profileOfAnn],
    },
    {
      name: 'suppresses what all contacts that go have',
      erased: { ann: { emails: [ANN] }, ann2: { emails: [ANN], profile: PROFILE } },
      others: { bob: { emails: ['bob@x.example'] } },
      suppressed: [`email ${ANN}`, 'id ann', 'id ann2', profileOfAnn],
    },
    {
      name: 'lets what another contact shares in, and names that contact',
      erased: { ann: { emails: [ANN, SHARED] } },
      others: { bob: { emails: [SHARED] } },
      named: [email(ANN)],
      suppressed: ['id ann'],
      related: ['bob'],
    },
    {
      name: 'by id suppresses the id alone where a duplicate has everything else',
      erased: { ann: { emails: [ANN], profile: PROFILE } },
      others: { ann2: { emails: [ANN], profile: PROFILE } },
      named: [{ kind: 'id', value: 'ann' }],
      suppressed: [],
      related: ['ann2'],
    },
    {
      name: 'knows the named address in another spelling',
      erased: { ann: { emails: ['Ann@X.example', ANN] } },
      named: [email(ANN)],
      suppressed: ['id ann'],
    },
    {
      name: 'names contacts that stay once, by id, whatever they share',
      erased: { ann: { emails: [ANN, SHARED], profile: PROFILE } },
      others: { cid: { emails: [ANN, SHARED] }, bob: { emails: [SHARED], profile: PROFILE } },
      suppressed: ['id ann'],
      related: ['bob', 'cid'],
    },
  ];

  for (const { name, erased, others = {}, named = [], suppressed, related = [] } of cases) {
    it(name, () => {
      expect(plan(erased, others, named)).to.deep.equal({ suppressed, related });
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
