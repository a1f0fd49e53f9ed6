import { expect } from 'chai';
import { decoder } from '../../ingest/decode.js';
import { openMessage } from '../../ingest/sources/kafka/change-message.js';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';

const CONTACT = { organization_id: 'org_a', contact_id: 'c1', first_name: 'Ada' };
const DELETION = { organization_id: 'org_a', contact_id: 'c1', deleted: true };

/** The record that a message becomes, or the code of its dead letter. */
function decoded(value: unknown, key: unknown = null, name: StreamName = 'contacts'): unknown {
  const stream = STREAMS[name] as Stream;
  const decode = decoder(
    stream,
    { others: 'allow' },
    {
      open: (opened, raw) => openMessage(opened, raw.keyed ?? { key: null }, stream),
    },
  );
  const raw =
    value === null ? { bytes: Buffer.alloc(0), value } : { bytes: Buffer.from(JSON.stringify(value)) };
  const keyText = typeof key === 'string' ? key : JSON.stringify(key);
  const keyed = { key: key === null ? null : Buffer.from(keyText) };
  const outcome = decode({ line: 0, keyed, ...raw }, Date.UTC(2026, 6, 2), 0);
  return outcome.kind === 'ok' ? outcome.record : outcome.code;
}

describe('Messages of Kafka Connect and Debezium', () => {
  const schema = { type: 'struct', fields: [] };

  it('become the record that they hold', () => {
    const change = (op: string) => ({ before: null, after: CONTACT, source: {}, op, ts_ms: 1 });
    for (const value of [CONTACT, { schema, payload: CONTACT }, change('c'), change('u'), change('r')]) {
      expect(decoded(value)).to.deep.equal(CONTACT);
    }
    expect(decoded({ schema, payload: change('c') })).to.deep.equal(CONTACT);
  });

  it('keep every digit of money', () => {
    const delivery =
      '{"organization_id":"o","date":"2026-07-01","campaign_id":"1","creative_id":"2","ad_spend":12345678901234.123456}';
    const stream = STREAMS['network-a-deliveries'] as Stream;
    const decode = decoder(
      stream,
      { others: 'allow' },
      {
        open: (value) => openMessage(value, { key: null }, stream),
      },
    );
    const bytes = Buffer.from(`{"op":"c","before":null,"after":${delivery}}`);
    const outcome = decode({ line: 0, bytes }, Date.parse('2026-07-02'), 0);
    expect(outcome).to.have.nested.property('record.ad_spend', '12345678901234.123456');
  });

  it('become deletions: tombstones by their key, deletes by their previous record', () => {
    const keys = ['org_a/c1', { organization_id: 'org_a', contact_id: 'c1' }];
    const asJson = [JSON.stringify(keys[0]), { schema: { type: 'string' }, payload: keys[0] }];
    for (const key of [...keys, ...asJson, { schema, payload: keys[1] }]) {
      expect(decoded(null, key), JSON.stringify(key)).to.deep.equal(DELETION);
      expect(decoded({ before: null, after: null, op: 'd' }, key)).to.deep.equal(DELETION);
      expect(decoded({ schema, payload: null }, key)).to.deep.equal(DELETION);
    }
    expect(decoded({ before: { ...CONTACT, other: 1 }, after: null, op: 'd' })).to.deep.equal(DELETION);
    expect(decoded({ ...CONTACT, deleted: true })).to.deep.equal(DELETION);
    const audience = { organization_id: 'org_a', id: 'a1', deleted: true };
    expect(decoded(null, 'org_a/a1', 'audiences')).to.deep.equal(audience);
  });

  it('become dead letters when they name no record, or more than one', () => {
    for (const key of [null, 'c1', 'org_a/c1/x', '"c1"']) expect(decoded(null, key)).to.equal('no_value');
    expect(decoded(null, { id: 'c1' })).to.equal('required');
    for (const key of ['/', 'org_a/', '/c1']) expect(decoded(null, key), key).to.equal('required');
    expect(decoded(null, 'org a/c1')).to.equal('invalid_format');
    expect(decoded(null, 'org_a/v1', 'website-visits')).to.equal('no_value');
    expect(decoded({ before: null, after: null, op: 't' })).to.equal('unsupported_operation');
    expect(decoded({ ...CONTACT, op: 'x', payload: 1 })).to.equal('unknown_field');
  });

  it('are ordered by the time of the change, also where the source is late', () => {
    const ms = Date.UTC(2026, 6, 1, 10);
    const time = '2026-07-01T10:00:00.000Z';
    const change = (op: string, fields: object) => ({ before: CONTACT, after: CONTACT, op, ...fields });
    const inSource = { source: { ts_ms: ms }, ts_ms: ms + 3_600_000 };
    expect(decoded(change('c', inSource))).to.deep.equal({ ...CONTACT, updated_at: time });
    expect(decoded(change('d', inSource))).to.deep.equal({ ...DELETION, updated_at: time });
    expect(decoded(change('d', { source: {}, ts_ms: ms }))).to.deep.equal({ ...DELETION, updated_at: time });
    const own = { ...CONTACT, updated_at: '2026-07-01T09:00:00Z' };
    expect(decoded({ ...change('u', inSource), after: own })).to.deep.equal(own);
    for (const implausible of [
      { ts_ms: 0 },
      { ts_ms: '5' },
      { ts_ms: 1e300 },
      { ts_ms: null },
      { source: 7 },
    ]) {
      expect(decoded(change('d', implausible))).to.deep.equal(DELETION);
    }
  });
});
