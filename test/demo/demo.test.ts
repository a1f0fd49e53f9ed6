import { expect } from 'chai';
import { decoder } from '../../ingest/decode.js';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { CampaignRecord, DeliveryRecord } from '../../services/advertising/records.js';
import type { ContactRecord } from '../../services/contacts/schema.js';

import { demoRecords } from '../../services/demo/load.js';
import type { VisitRecord } from '../../services/visits/schema.js';

const weekday = (day: string) => new Date(day).getUTCDay();
const DAY = '2026-08-01';
const ACCEPTED_AT = Date.parse(DAY);

function collect(day: string): Map<StreamName, object[]> {
  const records = new Map<StreamName, object[]>();
  for (const [stream, some] of demoRecords(day)) {
    records.set(stream, [...(records.get(stream) ?? []), ...some]);
  }
  return records;
}

describe('The sample data', () => {
  const all = collect(DAY);
  const of = <T>(stream: StreamName) => all.get(stream) as T[];

  it('has the promised numbers of records', () => {
    const counts = Object.fromEntries([...all].map(([stream, records]) => [stream, records.length]));
    expect(counts).to.deep.equal({
      audiences: 12,
      contacts: 2000,
      'website-visits': 20_000,
      'network-a-campaigns': 24,
      'network-a-creatives': 90,
      'network-a-companies': 400,
      'network-a-deliveries': 37_821,
      'currency-rates': 135,
    });
  });

  it('is the same whenever it is made for the same day, and of other days for another', () => {
    expect(JSON.stringify([...collect(DAY)])).to.equal(JSON.stringify([...all]));
    const later = collect('2026-08-02');
    expect(JSON.stringify(later.get('website-visits'))).to.not.equal(JSON.stringify(of('website-visits')));
  });

  for (const stream of Object.keys(STREAMS) as StreamName[]) {
    it(`holds only valid records of ${stream}, in the form they are kept in`, () => {
      const records = of<object>(stream);
      // Neighbouring records are generated alike, so a sample suffices.
      const step = Math.ceil(records.length / 4000);
      const decode = decoder(STREAMS[stream], { organizationId: 'org_demo', others: 'reject' });
      for (const record of records.filter((_, index) => index % step === 0)) {
        const outcome = decode({ line: 1, bytes: Buffer.from(JSON.stringify(record)) }, ACCEPTED_AT, 1);
        if (outcome.kind !== 'ok') expect.fail(JSON.stringify({ outcome, record }));
        expect(outcome.record).to.deep.equal(record);
      }
    });
  }

  it('identifies every record but restated deliveries once', () => {
    for (const [stream, records] of all) {
      const key = (record: object) => (STREAMS[stream].key as (record: object) => string)(record);
      const restated = (record: object) =>
        stream === 'network-a-deliveries' ? (record as DeliveryRecord).reported_at : '';
      const keys = new Set(records.map((record) => `${key(record)} ${restated(record)}`));
      expect(keys.size, stream).to.equal(records.length);
    }
  });

  it('has people of many countries and scripts', () => {
    const contacts = of<ContactRecord>('contacts');
    expect(new Set(contacts.map(({ country }) => country)).size).to.be.above(20);
    const scripts = ['Latin', 'Cyrillic', 'Greek', 'Arabic', 'Hebrew', 'Devanagari', 'Han', 'Hangul', 'Thai'];
    for (const script of scripts) {
      const letters = new RegExp(`\\p{Script=${script}}`, 'u');
      expect(
        contacts.some(({ last_name }) => letters.test(last_name ?? '')),
        script,
      ).to.equal(true);
    }
  });

  it('begins the list of contacts, newest first, with names that most viewers can read', () => {
    const newest = of<ContactRecord>('contacts').toSorted((one, other) =>
      String(one.created_at) < String(other.created_at) ? 1 : -1,
    );
    for (const { country } of newest.slice(0, 60))
      expect(country).to.be.oneOf(['United States', 'United Kingdom', 'Germany', 'France']);
    expect(new Set(newest.slice(60, 160).map(({ country }) => country)).size).to.be.above(10);
  });

  it('shows the rhythm of the week in visits and impressions', () => {
    const visits = of<VisitRecord>('website-visits').map(({ createdAt }) => createdAt.slice(0, 10));
    const share = (days: string[]) =>
      days.filter((day) => [0, 6].includes(weekday(day))).length / days.length;
    expect(share(visits)).to.be.within(0.05, 0.2);
    const impressions = [0, 0];
    for (const { date, creative_id, impressions: count } of of<DeliveryRecord>('network-a-deliveries')) {
      const end = [0, 6].includes(weekday(date)) ? 1 : 0;
      if (creative_id) impressions[end] = (impressions[end] as number) + (count ?? 0);
    }
    expect((impressions[1] as number) / (impressions[0] as number)).to.be.within(0.05, 0.2);
  });

  it('ends with yesterday and begins 180 days before today', () => {
    const dates = of<DeliveryRecord>('network-a-deliveries').map(({ date }) => date);
    expect(dates.at(-1)).to.equal('2026-07-31');
    expect(dates[0]).to.equal('2026-02-02');
    expect(new Set(dates).size).to.equal(180);
    expect(of<VisitRecord>('website-visits').at(-1)?.createdAt.slice(0, 10)).to.equal('2026-07-31');
    const reported = of<DeliveryRecord>('network-a-deliveries').map(({ reported_at }) =>
      Date.parse(String(reported_at)),
    );
    expect(Math.max(...reported)).to.be.at.most(Date.parse(DAY));
  });

  it('has a paused campaign whose figures stop, ended ones, and one that never ran', () => {
    const campaigns = of<CampaignRecord>('network-a-campaigns');
    const deliveries = of<DeliveryRecord>('network-a-deliveries');
    const last = (id: string) => deliveries.findLast(({ campaign_id }) => campaign_id === id)?.date;
    const paused = campaigns.find(({ status }) => status === 'PAUSED') as CampaignRecord;
    expect(last(paused.id)).to.be.a('string').and.not.equal('2026-07-31');
    for (const { id, end_date } of campaigns.filter(({ status }) => status === 'COMPLETED')) {
      expect(last(id)).to.equal(end_date);
    }
    const draft = campaigns.find(({ status }) => status === 'DRAFT') as CampaignRecord;
    expect(last(draft.id)).to.equal(undefined);
    expect(new Set(campaigns.map(({ status }) => status)).size).to.be.above(5);
  });

  it('restates a week: the later report is the higher', () => {
    const reports = new Map<string, DeliveryRecord[]>();
    for (const record of of<DeliveryRecord>('network-a-deliveries')) {
      const key = STREAMS['network-a-deliveries'].key(record);
      reports.set(key, [...(reports.get(key) ?? []), record]);
    }
    const twice = [...reports.values()].filter(({ length }) => length === 2);
    expect(new Set(twice.map(([first]) => first?.date)).size).to.equal(7);
    for (const [first, second] of twice) {
      expect(Date.parse(String(second?.reported_at))).to.be.above(Date.parse(String(first?.reported_at)));
      expect(second?.impressions).to.be.at.least(first?.impressions ?? 0);
    }
  });
});
