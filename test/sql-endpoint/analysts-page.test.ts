import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { addDays } from '../../services/advertising/calendar.js';
import { packageRoot } from '../../services/shared/fs.js';
import { TODAY } from '../advertising/helper.js';
import { openSampleEndpoint, type SampleEndpoint } from './sample-endpoint.js';

const PAGE = readFileSync(join(packageRoot, 'docs/reference/sql.md'), 'utf8');
const QUESTIONS = [...PAGE.matchAll(/^### \d+\. (?<question>.+)\n\n```sql\n(?<sql>[^`]+)```$/gm)].map(
  ({ groups }) => groups as { question: string; sql: string },
);
const FROM = addDays(TODAY, -60);
const TO = addDays(TODAY, -1);

type Row = Record<string, number | string | null>;
const numbers = (rows: Row[], column: string) => rows.map((row) => Number(row[column]));
const texts = (rows: Row[], column: string) => rows.map((row) => String(row[column]));
const descending = (values: number[]) => [...values].sort((a, b) => b - a);
const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
/** Between 0 and 1, and not all of them 0. */
const areRates = (values: number[]) => {
  for (const value of values) expect(value).to.be.within(0, 1);
  expect(Math.max(...values)).to.be.greaterThan(0);
};

/** What must hold for the answers on the sample data. */
const CHECKS: { columns: string[]; check(rows: Row[]): void }[] = [
  {
    columns: ['campaign_id', 'name', 'currency', 'spend', 'shown', 'clicked', 'ctr', 'cost_per_click'],
    check(rows) {
      expect(rows.length).to.be.within(10, 24);
      expect(numbers(rows, 'shown')).to.deep.equal(descending(numbers(rows, 'shown')));
      expect(texts(rows, 'name')).to.include('Brand – executives');
      areRates(numbers(rows, 'ctr'));
      expect(Math.min(...numbers(rows, 'spend'))).to.be.greaterThan(0);
    },
  },
  {
    columns: ['week', 'currency', 'spend', 'leads'],
    check(rows) {
      for (const week of texts(rows, 'week')) expect(new Date(week).getUTCDay()).to.equal(1);
      expect(new Set(texts(rows, 'week')).size).to.be.within(9, 10);
      expect(new Set(texts(rows, 'currency')).size).to.be.greaterThan(1);
      expect(Math.min(...numbers(rows, 'spend'))).to.be.greaterThan(0);
    },
  },
  {
    columns: ['objective', 'currency', 'leads', 'spend', 'cost_per_lead'],
    check(rows) {
      expect(texts(rows, 'objective')).to.include('LEAD_GENERATION');
      for (const row of rows) {
        expect(Number(row.cost_per_lead)).to.be.closeTo(Number(row.spend) / Number(row.leads), 0.01);
      }
    },
  },
  {
    columns: ['campaign_id', 'creative_id', 'headline', 'shown', 'ctr'],
    check(rows) {
      expect(rows.length).to.be.greaterThan(5);
      expect(new Set(texts(rows, 'campaign_id')).size).to.equal(rows.length);
      for (const headline of texts(rows, 'headline')) expect(headline).not.to.equal('null');
      areRates(numbers(rows, 'ctr'));
    },
  },
  {
    columns: ['company_id', 'name', 'domain', 'shown', 'engaged', 'campaigns_engaged'],
    check(rows) {
      expect(rows).to.have.length(20);
      expect(numbers(rows, 'engaged')).to.deep.equal(descending(numbers(rows, 'engaged')));
      for (const row of rows) expect(row.campaigns_engaged).to.be.within(1, 24);
      for (const domain of texts(rows, 'domain')) expect(domain).to.match(/\w\.\w/);
    },
  },
  {
    columns: ['industry', 'reached', 'shown', 'engagement_rate'],
    check(rows) {
      expect(rows.length).to.be.greaterThan(3);
      expect(total(numbers(rows, 'reached'))).to.be.within(50, 400);
      areRates(numbers(rows, 'engagement_rate'));
    },
  },
  {
    columns: ['campaign_id', 'shown', 'shown_before', 'change'],
    check(rows) {
      expect(rows.length).to.be.greaterThan(5);
      // The sample has a campaign that began five days ago.
      expect(rows.filter((row) => row.shown_before === 0 && row.change === null)).to.have.length(1);
      expect(rows.some((row) => Number(row.change) !== 0)).to.equal(true);
    },
  },
  {
    columns: ['weekday', 'name', 'shown_a_day', 'ctr'],
    check(rows) {
      expect(numbers(rows, 'weekday')).to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
      expect(texts(rows, 'name').at(-1)).to.equal('Sunday');
      expect(Number(rows[1]?.shown_a_day)).to.be.greaterThan(Number(rows[6]?.shown_a_day));
      areRates(numbers(rows, 'ctr'));
    },
  },
  {
    columns: ['campaign_id', 'date', 'spend', 'mean_of_seven'],
    check(rows) {
      expect(rows.length).to.be.greaterThan(300);
      const first = rows.slice(0, 7);
      expect(new Set(texts(first, 'campaign_id')).size).to.equal(1);
      expect(Number(first.at(-1)?.mean_of_seven)).to.be.closeTo(total(numbers(first, 'spend')) / 7, 0.01);
    },
  },
  {
    columns: ['company_id', 'first_seen', 'first_campaign', 'shown'],
    check(rows) {
      expect(rows.length).to.be.greaterThan(0);
      for (const day of texts(rows, 'first_seen')) expect(day >= FROM && day <= TO).to.equal(true);
      expect(texts(rows, 'first_seen')).to.deep.equal(texts(rows, 'first_seen').sort());
    },
  },
  {
    columns: ['company', 'shown', 'known', 'areas'],
    check(rows) {
      expect(rows).to.have.length(20);
      expect(numbers(rows, 'shown')).to.deep.equal(descending(numbers(rows, 'shown')));
      expect(Math.min(...numbers(rows, 'known'))).to.be.greaterThan(0);
    },
  },
  {
    columns: ['contact_id', 'job_title', 'company', 'engagements'],
    check(rows) {
      expect(numbers(rows, 'engagements')).to.deep.equal(descending(numbers(rows, 'engagements')));
      for (const id of texts(rows, 'contact_id')) expect(id).to.match(/^demo_contact_/);
    },
  },
  {
    columns: ['audience', 'members', 'reached', 'share'],
    check(rows) {
      expect(rows).to.have.length(12);
      areRates(numbers(rows, 'share'));
      for (const row of rows) expect(Number(row.reached)).to.be.within(1, Number(row.members));
    },
  },
  {
    columns: ['audience', 'visits', 'intent', 'of_high_intent'],
    check(rows) {
      expect(rows.length).to.be.greaterThan(5);
      for (const row of rows) expect(Number(row.of_high_intent)).to.be.within(0, Number(row.visits));
    },
  },
  {
    columns: ['audience', 'visits', 'members_reached', 'companies_reached'],
    check(rows) {
      expect(rows.length).to.be.greaterThan(5);
      for (const row of rows)
        expect(Number(row.companies_reached)).to.be.within(1, Number(row.members_reached));
    },
  },
  {
    columns: ['date', 'clicks', 'visits', 'visits_per_click'],
    check(rows) {
      expect(rows).to.have.length(60);
      expect(Math.min(...numbers(rows, 'visits'))).to.be.greaterThan(0);
    },
  },
  {
    columns: ['page', 'visits', 'audiences', 'intent'],
    check(rows) {
      expect(texts(rows, 'page')).to.include('/pricing');
      expect(numbers(rows, 'visits')).to.deep.equal(descending(numbers(rows, 'visits')));
    },
  },
  {
    columns: ['audience', 'other_audience', 'members_of_both'],
    check(rows) {
      expect(rows).to.have.length(20);
      for (const row of rows) expect(String(row.audience) < String(row.other_audience)).to.equal(true);
    },
  },
  {
    columns: ['company', 'domain', 'shown'],
    check(rows) {
      for (const domain of texts(rows, 'domain')) expect(domain).to.match(/\.example$/);
    },
  },
  {
    columns: ['country', 'visits', 'known'],
    check(rows) {
      expect(texts(rows, 'country')).to.include('Germany');
      expect(total(numbers(rows, 'known'))).to.be.within(100, 2000);
    },
  },
];

describe('docs/reference/sql.md', () => {
  let endpoint: SampleEndpoint;

  before(async () => {
    endpoint = await openSampleEndpoint(TODAY, { withRecords: true });
  });
  after(() => endpoint.close());

  it('answers twenty questions', () =>
    expect(QUESTIONS).to.have.length(CHECKS.length).and.to.have.length(20));

  QUESTIONS.forEach(({ question, sql }, index) => {
    it(`answers: ${question}`, async () => {
      const parameters = { param_organization: 'org_demo', param_from: FROM, param_to: TO };
      const rows = await endpoint.ask<Row>(sql, parameters);
      expect(rows).not.to.deep.equal([]);
      const { columns, check } = CHECKS[index] as (typeof CHECKS)[number];
      expect(Object.keys(rows[0] ?? {})).to.deep.equal(columns);
      check(rows);
      expect(await endpoint.ask(sql, { ...parameters, param_organization: 'org_other' })).to.deep.equal([]);
    });
  });

  it('lists every view with its columns', async () => {
    const rows = await endpoint.ask<{ table: string; columns: string[] }>(
      "SELECT table, groupArray(name) AS columns FROM (SELECT table, name FROM system.columns WHERE database = 'reachline' ORDER BY table, position) GROUP BY table",
    );
    const views = new Map(rows.map(({ table, columns }) => [table, columns]));
    const figures = (views.get('campaign_daily') ?? []).slice(3);
    const listed = [...PAGE.matchAll(/^\| `(?<view>\w+)` \| [^|]+ \| (?<columns>.+) \|$/gm)].map(
      ({ groups }) => groups as { view: string; columns: string },
    );
    expect(listed.map(({ view }) => view)).to.have.members([...views.keys()]);
    for (const { view, columns } of listed) {
      const own = [...columns.replace(/, and the figures.*/, '').matchAll(/`(\w+)`/g)].map(
        ([, name]) => name,
      );
      const more = columns.includes('without the two of money')
        ? figures.filter((name) => !['ad_spend', 'conversion_value'].includes(name))
        : columns.includes('and the figures')
          ? figures
          : [];
      expect([...own, ...more], view).to.deep.equal(views.get(view));
    }
  });
});
