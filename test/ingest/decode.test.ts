import { expect } from 'chai';
import { decoder, type OrganizationRule } from '../../ingest/decode.js';
import { STREAM_NAMES, STREAMS, type StreamName } from '../../ingest/streams/index.js';
import { realLines } from '../support/real-data.js';

const anyOrganization: OrganizationRule = { others: 'allow' };

const ACCEPTED_AT = Date.parse('2026-11-21T23:59:59Z');
const decode = (stream: StreamName, text: string | Buffer, rule = anyOrganization) =>
  decoder(STREAMS[stream], rule)({ line: 1, bytes: Buffer.from(text) }, ACCEPTED_AT, 1);

/** A valid record of a stream, with additional fields. */
const recordOf: Partial<Record<StreamName, (fields: string) => string>> = {
  contacts: (fields) => `{"organization_id":"org_a","contact_id":"c1"${fields && `,${fields}`}}`,
  audiences: (fields) => `{"organization_id":"org_a","id":"a1","name":"A"${fields && `,${fields}`}}`,
  'website-visits': (fields) =>
    `{"organizationId":"org_a","id":"v1","createdAt":"2026-01-31T10:00:00Z"${fields && `,${fields}`}}`,
  'network-a-deliveries': (fields) =>
    `{"organization_id":"org_a","date":"2026-01-31","campaign_id":"1","creative_id":"2"${fields && `,${fields}`}}`,
  'currency-rates': (fields) =>
    `{"organization_id":"org_a","date":"2026-01-31","currency":"USD","per_eur":"1.08"${fields && `,${fields}`}}`,
};
const made = (stream: StreamName, text: string) =>
  /^"/.test(text) ? (recordOf[stream]?.(text) as string) : text;
const contact = (fields: string) => made('contacts', fields);
const delivery = (fields: string) => made('network-a-deliveries', fields);
const visit = (fields: string) => made('website-visits', fields);

/** Stream, reason, record or fields to add to a valid record, code, and pointer. */
const REJECTED = String.raw`
contacts | is not JSON | {"contact_id": c1} | invalid_json
contacts | ends too early | {"contact_id": "c1" | invalid_json
contacts | is an array | [] | not_an_object
contacts | is null | null | not_an_object
contacts | holds a NUL | "city":"a\u0000b" | invalid_text | /city
contacts | holds half a surrogate pair | "city":"\ud83d" | invalid_text | /city
contacts | holds one in a list | "phones":["\ude00"] | invalid_text | /phones
contacts | names an unknown field | "first_nam":"A" | unknown_field | /first_nam
contacts | names __proto__ | "__proto__":{} | unknown_field | /__proto__
contacts | deletes without an id | {"organization_id":"org_a","deleted":true} | required | /contact_id
contacts | lacks its id | {"organization_id":"org_a"} | required | /contact_id
contacts | has a blank id | {"organization_id":"org_a","contact_id":" "} | required | /contact_id
contacts | has no organization | {"contact_id":"c1"} | required | /organization_id
contacts | has a bad email | "work_emails":["a@b.com","nobody"] | invalid_email | /work_emails/1
contacts | has text for a number | "age":"5" | invalid_type | /age
contacts | has a day that does not exist | "dob":"1990-02-30" | invalid_date | /dob
contacts | has a time without offset | "updated_at":"2026-01-01T00:00:00" | invalid_date_time | /updated_at
contacts | was updated more than a day after its acceptance | "updated_at":"2026-11-23T00:00:00Z" | in_the_future | /updated_at
contacts | is deleted by a wrong clock | "deleted":true,"updated_at":"2999-01-01T00:00:00Z" | in_the_future | /updated_at
audiences | was created before 2000 | "created_at":"1999-12-31T23:59:59.999Z" | too_old | /created_at
website-visits | deletes a visit | "deleted":true | not_deletable | /deleted
website-visits | is of a visit before 2000 | "createdAt":"0001-01-01T10:00:00Z" | too_old | /createdAt
website-visits | has a bad address | "ipAddress":"1.2.3.400" | invalid_ip_address | /ipAddress
website-visits | has snake case in a camelCase stream | "start_url":"x" | unknown_field | /start_url
website-visits | has an unsafe integer | "intentScore":9007199254740993 | too_large | /intentScore
network-a-deliveries | was reported a day too late | "reported_at":"2026-11-23T02:00:00+01:59" | in_the_future | /reported_at
network-a-deliveries | is of a day before 2000 | "date":"1999-12-31" | date_out_of_range | /date
network-a-deliveries | is of the third day from today | "date":"2026-11-24" | date_out_of_range | /date
network-a-deliveries | has negative money | "ad_spend":-1 | too_small | /ad_spend
network-a-deliveries | has money with an exponent | "ad_spend":"1e3" | invalid_format | /ad_spend
network-a-deliveries | has money with a comma | "ad_spend":"0,5" | invalid_format | /ad_spend
currency-rates | has a currency in small letters | "currency":"usd" | invalid_format | /currency
currency-rates | has a rate of nothing | "per_eur":0 | out_of_range | /per_eur
currency-rates | has a rate below 10^-12 | "per_eur":"0.0000000000001" | out_of_range | /per_eur
currency-rates | has a rate of 13 digits | "per_eur":1000000000000 | invalid_format | /per_eur
currency-rates | gives the euro another rate than 1 | "currency":"EUR" | out_of_range | /per_eur
currency-rates | has no rate | "per_eur":null | required | /per_eur
currency-rates | is older than the euro | "date":"1998-12-31" | date_out_of_range | /date
network-a-deliveries | counts by halves | "clicks":1.5 | invalid_type | /clicks
network-a-deliveries | is broken down by nothing | "creative_id":null | breakdown_required
`;
type Case = [stream: StreamName, name: string, text: string | Buffer, code: string, pointer?: string];
const LONG: Case[] = [
  ['contacts', 'is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_utf8'],
  ['contacts', 'grows when it is folded', `"city":"${'㌖'.repeat(171)}"`, 'too_long', '/city'],
  ['audiences', 'grows when folded', `"description":"${'\ufdfa'.repeat(456)}"`, 'too_long', '/description'],
  [
    'contacts',
    'takes 32 KiB',
    `"phones":${JSON.stringify(Array(50).fill('1'.repeat(700)))}`,
    'record_too_large',
  ],
  [
    'contacts',
    'names 10 001 audiences',
    `"audience_ids":[${Array(10_001).fill('"a"')}]`,
    'too_many_items',
    '/audience_ids',
  ],
];

describe('A record that cannot be decoded', () => {
  const rows = REJECTED.trim().split('\n');
  for (const [stream, name, text, code, pointer = ''] of [
    ...rows.map((row) => row.split(' | ') as Case),
    ...LONG,
  ]) {
    it(`because it ${name} says ${code}`, () => {
      const outcome = decode(stream, typeof text === 'string' ? made(stream, text) : text);
      expect(outcome).to.include({ kind: 'dead_letter', code, pointer });
      expect(outcome.kind === 'dead_letter' && outcome.detail).to.match(/^\S+ \S+ /);
    });
  }

  it('says what a currency and its rate have to be', () => {
    for (const [fields, rule] of [
      ['"currency":"usd"', 'an ISO 4217 code in capital letters, such as USD'],
      ['"per_eur":"1000000000000"', 'a decimal number with at most 12 digits before the point'],
    ] as const) {
      const outcome = decode('currency-rates', made('currency-rates', fields));
      expect(outcome.kind === 'dead_letter' && outcome.detail).to.include(rule);
    }
  });

  it('names all its errors in one detail', () => {
    const outcome = decode('contacts', contact('"age":-1,"dob":"x"'));
    expect(outcome.kind === 'dead_letter' && outcome.detail).to.match(/age.*dob/s);
  });
});

describe('A record that can be decoded', () => {
  const record = (stream: StreamName, text: string, rule?: OrganizationRule) => {
    const outcome = decode(stream, text, rule);
    expect(outcome.kind).to.equal('ok');
    return outcome.kind === 'ok' ? (outcome.record as Record<string, unknown>) : {};
  };

  it('is every real one', () => {
    for (const stream of STREAM_NAMES) {
      const decode = decoder(STREAMS[stream], anyOrganization);
      for (const line of realLines(stream)) {
        const { kind } = decode({ line: 1, bytes: Buffer.from(line) }, ACCEPTED_AT, 1);
        if (kind !== 'ok') expect.fail(line);
      }
    }
  });

  it('has its strings trimmed, blank ones null, and blank entries of lists left out', () => {
    expect(
      record('contacts', contact('"city":" Ulm ","country":" ","phones":[" 1 ",""],"age":null')),
    ).to.deep.equal({
      organization_id: 'org_a',
      contact_id: 'c1',
      city: 'Ulm',
      country: null,
      phones: ['1'],
      age: null,
    });
  });

  it('has 32 KiB and 10 000 audiences at most, each by itself', () => {
    const phones = Array.from({ length: 50 }, () => '1'.repeat(640));
    const audiences = Array.from({ length: 10_000 }, (_, index) => `aud_${index}`);
    const text = contact(`"phones":${JSON.stringify(phones)},"audience_ids":${JSON.stringify(audiences)}`);
    expect(record('contacts', text).audience_ids).to.have.length(10_000);
  });

  it('has its emails in lower case', () => {
    expect(record('contacts', contact('"work_emails":["Ada@Example.COM"]')).work_emails).to.deep.equal([
      'ada@example.com',
    ]);
  });

  it('keeps every digit of money, whether text or number', () => {
    const given = '"ad_spend":123456789012345.123456789012 ,"conversion_value":0.1';
    expect(record('network-a-deliveries', delivery(given))).to.include({
      ad_spend: '123456789012345.123456789012',
      conversion_value: '0.1',
    });
    expect(record('network-a-deliveries', delivery('"ad_spend":1e-7')).ad_spend).to.equal('0.0000001');
    expect(record('network-a-deliveries', delivery('"ad_spend":1e14')).ad_spend).to.equal('100000000000000');
  });

  it('keeps numbers with an exponent as they were written, also those that JSON.parse would round', () => {
    const spend = (number: string) =>
      record('network-a-deliveries', delivery(`"ad_spend":${number}`)).ad_spend;
    expect(spend('1e14')).to.equal('100000000000000');
    expect(spend('1E+2')).to.equal('100');
    expect(spend('1.5e-7')).to.equal('0.00000015');
    expect(spend('12345678901234567.5e-3')).to.equal('12345678901234.5675');
    expect(spend('1.234567890123456789e14')).to.equal('123456789012345.6789');
    expect(spend('0.0000000000000000012345e17')).to.equal('0.12345');
    expect(spend('99999999999999.999999e1')).to.equal('999999999999999.99999');
    expect(spend('1234567890123456.5e-12')).to.equal('1234.567890123456');
    for (const beyond of ['99999999999999999e12', '1000000000000000000e999']) {
      expect(decode('network-a-deliveries', delivery(`"ad_spend":${beyond}`)).kind, beyond).to.equal(
        'dead_letter',
      );
    }
  });

  it('has less than 10^15 of money, however it is written', () => {
    for (const spend of [
      '1e15',
      '1000000000000000',
      '"1000000000000000.5"',
      '99999999999999999999999999',
      '1e25',
    ]) {
      expect(decode('network-a-deliveries', delivery(`"ad_spend":${spend}`)), spend).to.include({
        kind: 'dead_letter',
        code: 'out_of_range',
        pointer: '/ad_spend',
      });
    }
    for (const spend of ['999999999999999.999999999999', '"0000000000000000000001.5"'])
      expect(decode('network-a-deliveries', delivery(`"ad_spend":${spend}`)).kind, spend).to.equal('ok');
    expect(decode('network-a-campaigns', '{"organization_id":"o","id":"1","daily_budget":1e15}')).to.include({
      pointer: '/daily_budget',
    });
  });

  it('has a day from 2000 to two days after that of its acceptance', () => {
    for (const day of ['2000-01-01', '2026-11-23']) {
      const text = delivery(`"date":"${day}"`);
      expect(record('network-a-deliveries', text).date).to.equal(day);
    }
  });

  it('has clocks from 2000 to 24 hours after its acceptance', () => {
    for (const time of ['2000-01-01T00:00:00Z', '2026-11-22T23:59:59Z']) {
      const outcome = decode('contacts', contact(`"created_at":"${time}","updated_at":"${time}"`));
      expect(outcome.kind, time).to.equal('ok');
    }
  });

  it('leaves text alone that looks like a field with money', () => {
    const name = '\\"daily_budget\\": 1234567890123456.5,';
    const text = `{"organization_id":"org_a","id":"1","name":"${name}"}`;
    expect(record('network-a-campaigns', text).name).to.equal('"daily_budget": 1234567890123456.5,');
  });

  it('may leave out the organization where the caller has one', () => {
    const rule: OrganizationRule = { organizationId: 'org_a', others: 'reject' };
    expect(record('contacts', '{"contact_id":"c1"}', rule).organization_id).to.equal('org_a');
    expect(record('contacts', '{"contact_id":"c1","organization_id":null}', rule).organization_id).to.equal(
      'org_a',
    );
    expect(
      record('website-visits', '{"id":"v","createdAt":"2026-01-01T00:00:00Z"}', rule).organizationId,
    ).to.equal('org_a');
  });

  it('may name another organization only where that is allowed', () => {
    const text = '{"contact_id":"c1","organization_id":"org_b"}';
    expect(decode('contacts', text, { organizationId: 'org_a', others: 'reject' })).to.include({
      code: 'organization_mismatch',
      pointer: '/organization_id',
    });
    expect(record('contacts', text, { organizationId: 'org_a', others: 'allow' }).organization_id).to.equal(
      'org_b',
    );
  });
});

describe('A record that deletes', () => {
  it('keeps its identifiers and its version alone, whatever else it repeats', () => {
    const text =
      '{"organization_id":"org_a","id":"a1","deleted":true,"updated_at":"2026-01-31T10:00:00Z","nam":"A","name":null}';
    expect(decode('audiences', text)).to.deep.include({
      kind: 'ok',
      record: { organization_id: 'org_a', id: 'a1', deleted: true, updated_at: '2026-01-31T10:00:00Z' },
    });
  });

  it('is an ordinary record where deleted is false or null', () => {
    for (const deleted of ['false', 'null']) {
      expect(decode('website-visits', visit(`"deleted":${deleted}`))).to.include({ kind: 'ok' });
      expect(decode('contacts', contact(`"city":"Rome","deleted":${deleted}`))).to.deep.include({
        record: { organization_id: 'org_a', contact_id: 'c1', city: 'Rome' },
      });
    }
  });
});
