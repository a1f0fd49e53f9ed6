import { expect } from 'chai';
import { gatewaySuite, type TestGateway } from '../../support/gateway.js';

export const audienceSearch = gatewaySuite('Search in one of several audiences', (start) => {
  let gateway: TestGateway;
  const organization_id = 'org_a';

  before(async () => {
    gateway = await start();
    const names = ['one', 'two', 'three'];
    await gateway.ingest(
      'audiences',
      names.map((id) => ({ id, name: id })),
    );
    await gateway.ingest('contacts', [
      { contact_id: 'ada', first_name: 'Ada', city: 'London', audience_ids: ['two', 'three'] },
      { contact_id: 'alan', first_name: 'Alan', city: 'London', audience_ids: ['three'] },
      { contact_id: 'grace', first_name: 'Grace', city: 'New York', audience_ids: ['one', 'three'] },
    ]);
  });
  after(() => gateway.close());

  const search = async (audience_id: string, filters: object) => {
    const { body } = await gateway.call('/api/audiences/contacts/search', {
      organization_id,
      audience_id,
      ...filters,
    });
    const contacts = body.contacts as { contact_id: string }[];
    return { ids: contacts.map(({ contact_id }) => contact_id).sort(), total: body.total_count };
  };

  it('finds the matching members of every audience', async () => {
    expect(await search('one', { city: 'London' })).to.deep.equal({ ids: [], total: 0 });
    expect(await search('two', { city: 'London' })).to.deep.equal({ ids: ['ada'], total: 1 });
    expect(await search('three', { city: 'London' })).to.deep.equal({ ids: ['ada', 'alan'], total: 2 });
    expect(await search('three', { first_name: 'grace' })).to.deep.equal({ ids: ['grace'], total: 1 });
    expect(await search('three', {})).to.deep.equal({ ids: ['ada', 'alan', 'grace'], total: 3 });
  });
});
