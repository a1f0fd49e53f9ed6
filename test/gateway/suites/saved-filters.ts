import { expect } from 'chai';
import { type Answer, gatewaySuite, useGateway } from '../../support/gateway.js';
import { problemFaults, responseCheck } from '../../support/schema-check.js';

type Errors = { errors: { pointer: string; code: string }[] };

export const savedFilters = gatewaySuite('Saved filters', (start) => {
  const gateway = useGateway(undefined, start);
  const SCOPES = ['contacts:read', 'visits:read', 'audiences:read', 'audiences:write'];

  const send = (key: string, action: string, body: object): Promise<Answer> =>
    gateway.call(`/api/filters/${action}`, body, { key });

  async function ask<T>(key: string, action: string, body: object): Promise<T> {
    const answer = await send(key, action, body);
    expect(answer.status, answer.text).to.equal(200);
    expect(responseCheck.get(`/api/filters/${action}`)?.(answer.body)).to.deep.equal([]);
    return answer.body as T;
  }

  const listed = async (key: string, view: string) =>
    (await ask<{ filters: Record<string, unknown>[] }>(key, 'list', { view })).filters.map(
      ({ created_at: _, updated_at: __, ...filter }) => filter,
    );

  it('are seen by each key of the organization, and by no other organization', async () => {
    const [mine, colleague] = [
      await gateway.keyFor('org_saves', SCOPES),
      await gateway.keyFor('org_saves', ['contacts:read']),
    ];
    const stranger = await gateway.keyFor('org_stranger', SCOPES);
    const contacts = {
      query: 'marketing',
      any_of: [{ country: 'DE' }, { country: 'AT' }],
      none_of: [{ audience_id: 'aud_x' }],
      has: ['work_emails'],
    };
    await ask(mine, 'save', { name: ' DACH ', contacts: { ...contacts, query: ' marketing ' } });
    const sorted = { country: 'FR', sort_by: 'last_name', sort_direction: 'asc' };
    await ask(mine, 'save', { name: 'French', contacts: sorted });
    await ask(mine, 'save', { name: 'French', visits: { country: 'FR', has_recording: false } });
    await ask(mine, 'save', { name: 'Trials', audiences: { query: 'trial' } });
    expect(await listed(colleague, 'contacts')).to.deep.equal([
      { name: 'DACH', contacts },
      { name: 'French', contacts: sorted },
    ]);
    expect(await listed(mine, 'visits')).to.deep.equal([
      { name: 'French', visits: { country: 'FR', has_recording: false } },
    ]);
    expect(await listed(mine, 'audiences')).to.deep.equal([
      { name: 'Trials', audiences: { query: 'trial' } },
    ]);
    for (const view of ['contacts', 'visits', 'audiences'])
      expect(await listed(stranger, view)).to.deep.equal([]);
    const gone = await ask<object>(stranger, 'delete', { view: 'contacts', name: 'DACH' });
    expect(gone).to.include({ deleted: false, deleted_filter: null });
    expect(await listed(colleague, 'contacts')).to.have.lengthOf(2);
  });

  it('can be saved again as they were before they were replaced or deleted', async () => {
    const key = await gateway.keyFor('org_again', SCOPES);
    const filter = { name: 'One', contacts: { country: 'DE' } };
    await ask(key, 'save', filter);
    const next = { name: 'One', contacts: { country: 'FR' } };
    const { replaced_filter: replaced } = await ask<{ replaced_filter: object }>(key, 'save', next);
    expect(replaced).to.deep.include(filter);
    const gone = await ask<{ deleted_filter: object }>(key, 'delete', { view: 'contacts', name: 'One' });
    expect(gone).to.deep.include({ deleted: true });
    expect(gone.deleted_filter).to.deep.include(next);
    expect(await listed(key, 'contacts')).to.deep.equal([]);
  });

  it('are not replaced if `replace` is false', async () => {
    const key = await gateway.keyFor('org_keeps', SCOPES);
    const first = { name: 'Hot', contacts: { country: 'DE' } };
    expect(await ask(key, 'save', { ...first, replace: false })).to.deep.include({ replaced_filter: null });
    const answer = await send(key, 'save', { name: ' Hot ', contacts: { country: 'FR' }, replace: false });
    expect([answer.status, answer.body.code]).to.deep.equal([409, 'filter_exists']);
    expect(problemFaults(409, answer.body)).to.deep.equal([]);
    expect(await listed(key, 'contacts')).to.deep.equal([first]);
    await ask(key, 'save', { name: 'Hot', visits: { country: 'FR' }, replace: false });
    await ask(key, 'save', { name: 'Hot', contacts: { country: 'FR' }, replace: true });
    expect(await listed(key, 'contacts')).to.deep.equal([{ name: 'Hot', contacts: { country: 'FR' } }]);
  });

  it('need the scope that reads the list, and audiences:write to be changed', async () => {
    const reader = await gateway.keyFor('org_scopes', ['contacts:read', 'audiences:read']);
    const writer = await gateway.keyFor('org_scopes', ['audiences:write']);
    const refused = async (key: string, action: string, body: object) => {
      const { status, body: problem } = await send(key, action, body);
      expect([status, problem.code]).to.deep.equal([403, 'insufficient_scope']);
    };
    await refused(reader, 'list', { view: 'visits' });
    await refused(writer, 'list', { view: 'contacts' });
    await refused(reader, 'save', { name: 'A', contacts: {} });
    await refused(writer, 'save', { name: 'A', contacts: {} });
    await refused(reader, 'delete', { view: 'contacts', name: 'A' });
    await refused(writer, 'delete', { view: 'contacts', name: 'A' });
    expect((await gateway.call('/api/filters/list', { view: 'contacts' }, { key: null })).status).to.equal(
      401,
    );
  });

  it('are refused where a search with them would be, or where they name a person', async () => {
    const key = await gateway.keyFor('org_broken', SCOPES);
    const broken: [body: object, pointer: string, code: string][] = [
      [{ name: 'A' }, '/contacts', 'exactly_one_of'],
      [{ name: 'A', contacts: {}, visits: {} }, '/contacts', 'exactly_one_of'],
      [{ contacts: {} }, '/name', 'required'],
      [{ name: ' ', contacts: {} }, '/name', 'required'],
      [{ name: 'x'.repeat(101), contacts: {} }, '/name', 'too_long'],
      [{ name: 'A', contacts: { limit: 5 } }, '/contacts/limit', 'unknown_field'],
      [{ name: 'A', contacts: { contry: 'DE' } }, '/contacts/contry', 'unknown_field'],
      [{ name: 'A', contacts: { any_of: [{ city: '!!' }] } }, '/contacts/any_of/0/city', 'no_words'],
      [{ name: 'A', contacts: { none_of: [{}] } }, '/contacts/none_of/0', 'empty_filter'],
      [{ name: 'A', contacts: { query: 'x', sort_by: 'last_name' } }, '/contacts/sort_by', 'not_with_query'],
      [{ name: 'A', contacts: { email: 'ada@acme.example' } }, '/contacts/email', 'names_a_person'],
      [{ name: 'A', contacts: { query: 'ada@acme.example' } }, '/contacts/query', 'names_a_person'],
      [
        { name: 'A', contacts: { none_of: [{ email: 'a@b.example' }] } },
        '/contacts/none_of/0/email',
        'names_a_person',
      ],
      [{ name: 'A', contacts: { query: 'a＠b.example' } }, '/contacts/query', 'names_a_person'],
      [{ name: 'A', contacts: { query: 'linkedin.com/in/ada' } }, '/contacts/query', 'names_a_person'],
      [
        { name: 'A', contacts: { company_domains: ['b.example', 'ada@b.example'] } },
        '/contacts/company_domains/1',
        'names_a_person',
      ],
      [
        { name: 'A', contacts: { any_of: [{ first_name: 'ada@b.example' }] } },
        '/contacts/any_of/0/first_name',
        'names_a_person',
      ],
      [{ name: 'A', audiences: { query: 'ada@b.example' } }, '/audiences/query', 'names_a_person'],
      [{ name: 'A', visits: { start_url: 'x?e=ada@b.example' } }, '/visits/start_url', 'names_a_person'],
      [{ name: 'A', visits: { ip_address: 'x' } }, '/visits/ip_address', 'invalid_ip_range'],
      [{ name: 'A', visits: { start_url: '//' } }, '/visits/start_url', 'no_words'],
      [
        {
          name: 'A',
          contacts: { company_domains: Array.from({ length: 1000 }, (_, n) => `company${n}.example`) },
        },
        '/contacts',
        'filter_too_large',
      ],
    ];
    for (const [body, pointer, code] of broken) {
      const { status, body: problem, text } = await send(key, 'save', body);
      expect(status, text).to.equal(422);
      const [error] = (problem as unknown as Errors).errors;
      expect([error?.pointer, error?.code], JSON.stringify(body).slice(0, 200)).to.deep.equal([
        pointer,
        code,
      ]);
    }
    expect((await send(key, 'list', { view: 'keys' })).status).to.equal(422);
    expect(await listed(key, 'contacts')).to.deep.equal([]);
  });
});
