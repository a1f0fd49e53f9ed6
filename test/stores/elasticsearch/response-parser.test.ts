import { expect } from 'chai';
import { parseResponse } from '../../../services/stores/elasticsearch/response-parser.js';

const UPDATED = '2026-01-01T00:00:00.000Z';
const contacts = [
  { id: 'con_1', city: '","updated_at":"', audience_ids: ['"_source":{"contact":{'], updated_at: UPDATED },
  { id: 'con_2', city: 'Zoë \\ \u0001', audience_ids: [], updated_at: UPDATED },
];
const hit = (contact: unknown) => ({
  _index: 'i',
  _id: 'o/c',
  _source: { contact, record_order: '1' },
  sort: [1],
});
const parsed = (response: object) => parseResponse(JSON.stringify(response));
const asText = contacts.map((contact) => JSON.stringify(contact));

describe('A response of Elasticsearch', () => {
  it('has its contacts as text, whatever their values hold', () => {
    const tombstone = { _id: 'o/d', _source: { abandoned_at: 1 } };
    const page = (found: unknown[]) => ({ took: 1, hits: { total: { value: 2 }, hits: found } });
    expect(parsed(page([hit(contacts[0]), tombstone, hit(contacts[1])]))).to.deep.equal(
      page([hit(asText[0]), tombstone, hit(asText[1])]),
    );
    const missing = { _id: 'o/e', found: false };
    expect(parsed({ docs: [missing, ...contacts.map(hit)] })).to.deep.equal({
      docs: [missing, ...asText.map(hit)],
    });
    expect(parsed({ found: true, ...hit(contacts[0]) })).to.deep.equal({ found: true, ...hit(asText[0]) });
  });

  it('has the texts of contacts as they were sent, where Elasticsearch escaped more', () => {
    const sent = JSON.stringify({ id: 'con_1', city: '👩 \u001f \\u001f', updated_at: UPDATED });
    const escaped = sent.replace('👩', '\\uD83D\\uDC69').replace('\\u001f', '\\u001F');
    expect(escaped).to.not.equal(sent);
    expect(parseResponse(`{"_source":{"contact":${escaped}}}`)).to.deep.equal({ _source: { contact: sent } });
  });

  it('is read as it is when it has other documents', () => {
    for (const response of [
      { acknowledged: true },
      // Of version 7, and of version 6.
      hit(asText[0]),
      hit({ id: 'con_1', city: null }),
      // A rejected record.
      { hits: { hits: [{ _source: { record: { _source: { contact: contacts[0] } } } }] } },
      { hits: { hits: [hit(contacts[0]), { _source: { record: { _source: { contact: contacts[1] } } } }] } },
    ]) {
      expect(parsed(response)).to.deep.equal(response);
    }
  });

  it('that is not JSON is an error', () => {
    expect(() => parseResponse('{"took":')).to.throw(SyntaxError);
    expect(() => parseResponse(`{"_source":{"contact":{"updated_at":"${UPDATED}"`)).to.throw(SyntaxError);
  });
});
