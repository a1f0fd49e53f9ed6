import { expect } from 'chai';
import { toContactSearch } from '../../services/contacts/search.js';

const search = (body: object) => toContactSearch('org', body);

describe('Alternatives of a segment', () => {
  const value = (field: string, ...values: string[]) => ({ kind: 'value', field, values });

  it('that differ only in the values of one field become one condition of the search', () => {
    const any_of = ['DE', 'AT', 'FR', 'DE'].map((country) => ({ country }));
    expect(search({ city: 'Wien', any_of }).anyOf).to.equal(undefined);
    expect(search({ any_of }).filters).to.deep.equal([value('country', 'de', 'at', 'fr')]);
    const [only, ...others] = search({ none_of: any_of }).noneOf ?? [];
    expect(others).to.deep.equal([]);
    expect(only?.filters).to.deep.equal([value('country', 'de', 'at', 'fr')]);
  });

  it('of every combination of values become one condition for each field', () => {
    const any_of = ['DE', 'AT'].flatMap((country) =>
      ['vp', 'director'].map((seniority) => ({ country, seniority, city: 'Wien' })),
    );
    const { anyOf, filters } = search({ any_of });
    expect(anyOf).to.equal(undefined);
    expect(filters).to.have.lengthOf(3);
    expect(filters).to.deep.include.members([
      value('country', 'de', 'at'),
      value('seniority', 'vp', 'director'),
    ]);
  });

  it('share the conditions that all of them have', () => {
    const any_of = [
      { city: 'Wien', seniority: 'vp' },
      { city: 'Bern', seniority: 'vp', audience_id: 'a' },
    ];
    const { anyOf, filters } = search({ country: 'DE', any_of });
    expect(filters).to.deep.equal([value('country', 'de'), value('seniority', 'vp')]);
    expect(anyOf?.map((each) => [each.filters.length, each.audienceId])).to.deep.equal([
      [1, undefined],
      [1, 'a'],
    ]);
    expect(search({ any_of: [{ country: 'DE' }, { country: 'DE', city: 'Wien' }] }).anyOf).to.equal(
      undefined,
    );
    expect(search({ any_of: [{ country: 'DE' }, {}] })).to.deep.include({ filters: [], anyOf: undefined });
  });

  it('that differ in anything else stay apart', () => {
    const apart = [
      [{ country: 'DE' }, { seniority: 'vp' }],
      [{ country: 'DE', seniority: 'vp' }, { country: 'AT' }],
      [{ country: 'DE', city: 'Wien' }, { country: 'AT' }],
      [{ city: 'Wien' }, { city: 'Bern' }],
      [
        { country: 'DE', audience_id: 'a' },
        { country: 'AT', audience_id: 'b' },
      ],
    ];
    for (const any_of of apart) expect(search({ any_of }).anyOf).to.have.lengthOf(2);
    const ofAudience = [{ audience_id: 'a' }];
    expect(search({ audience_id: 'b', any_of: ofAudience })).to.deep.include({ audienceId: 'b' });
    expect(search({ audience_id: 'b', any_of: ofAudience }).anyOf).to.have.lengthOf(1);
  });
});
