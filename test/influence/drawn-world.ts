/** Drawn worlds for the influence operation: records as they are sent, and what they mean, which the oracle reads. */
import { expect } from 'chai';
import type { TestGateway } from '../support/gateway.js';
import { Random } from '../support/random.js';
import { iso, type Question, type World } from './oracle.js';

const DAY = 86_400_000;
/** First day with deliveries. */
export const FIRST = Math.floor(Date.parse('2026-08-20') / DAY);
const DAYS = 40;

/** Domains by their normal form: spellings that mean the same. */
const SPELLINGS: Record<string, string[]> = {
  'acme.example': ['acme.example', 'WWW.Acme.Example', 'https://acme.example/about'],
  'bäcker.example': ['bäcker.example', 'xn--bcker-gra.example', 'www.BÄCKER.example'],
  'caps.example': ['CAPS.example', 'caps.example'],
  'delta.example': ['delta.example'],
  'sub.delta.example': ['sub.delta.example'],
  'only-visits.example': ['only-visits.example'],
  'only-people.example': ['only-people.example'],
};
const DOMAINS = Object.keys(SPELLINGS);
/** Domains of companies; the first has several. */
const COMPANY_DOMAINS = ['acme.example', 'acme.example', ...DOMAINS.slice(1, 5), null, null];

export interface DrawnWorld {
  world: World;
  /** Records by stream, shuffled, with versions that arrive late. */
  streams: Record<string, object[]>;
}

/** Draws a world. Contacts and visits begin and end days, and lie on every day around `edges`. */
export function drawnWorld(seed: number, edges: readonly number[] = []): DrawnWorld {
  const random = new Random(seed);
  const at = () => {
    const day =
      edges.length > 0 && random.chance(0.4) ? random.pick(edges) : FIRST - 5 + random.below(DAYS + 25);
    return day * DAY + random.pick([0, DAY - 1, random.below(DAY)]);
  };
  const companies = COMPANY_DOMAINS.map((domain, index) => ({
    id: `co_${index}`,
    name: random.maybe(0.8, () => random.pick(['beta', 'Gamma', 'alpha'])) ?? null,
    domain,
  }));
  const campaigns = ['c0', 'c1', 'c2'].map((id, index) => ({ id, currency: index === 2 ? 'USD' : 'EUR' }));
  const deliveries = uniqueReports(
    Array.from({ length: 260 }, (): World['deliveries'][number] => {
      const day = FIRST + random.below(DAYS);
      const campaign = random.pick(campaigns).id;
      // co_8 has no record.
      const company = random.chance(0.8) ? `co_${random.below(COMPANY_DOMAINS.length + 1)}` : null;
      const counts = Object.fromEntries(
        ['impressions', 'clicks', 'engagements'].map((metric) => [metric, random.pick([0, 0, 1, 2, 3])]),
      );
      return {
        key: `${day} ${campaign} ${company}`,
        reported: random.below(1_000_000),
        day,
        campaign,
        company,
        spend: company === null ? 1 + random.below(9) : 0,
        counts,
      };
    }),
  );
  const domainOf = () => random.pick([...DOMAINS, null]);
  const spelled = (domain: string) => random.pick(SPELLINGS[domain] as string[]);
  const people = Array.from({ length: 90 }, (_, index) => ({
    id: `p_${index}`,
    domain: domainOf(),
    at: at(),
  }));
  const visits = Array.from({ length: 90 }, (_, index) => ({
    id: `v_${index}`,
    domain: domainOf(),
    at: at(),
  }));
  const time = (ms: number) => new Date(ms).toISOString();
  const streams: Record<string, object[]> = {
    'network-a-companies': companies.map(({ id, name, domain }) => ({
      id,
      name,
      domain: domain === null ? random.pick([null, 'n/a']) : spelled(domain),
    })),
    'network-a-campaigns': campaigns.map(({ id, currency }) => ({ id, currency })),
    'network-a-deliveries': deliveries.map(({ reported, day, campaign, company, spend, counts }) => ({
      ...{ date: iso(day), campaign_id: campaign, reported_at: time(FIRST * DAY + reported) },
      ...(company === null ? { creative_id: 'r0', ad_spend: String(spend) } : { company_id: company }),
      ...counts,
    })),
    contacts: people.map(({ id, domain, at: ms }) => ({
      ...{ contact_id: id, created_at: time(ms), updated_at: time(ms) },
      // Without a domain of its own, a contact belongs to that of its first work email.
      ...(domain === null
        ? random.pick<object>([{}, { personal_emails: ['someone@acme.example'] }])
        : random.pick<object>([
            { company_domain: spelled(domain), work_emails: ['someone@other.example'] },
            {
              work_emails: [
                `Some.One@${domain === 'bäcker.example' ? 'xn--bcker-gra.example' : domain}`,
                'second@other.example',
              ],
            },
          ])),
    })),
    'website-visits': visits.map(({ id, domain, at: ms }) => ({
      id,
      createdAt: time(ms),
      ...(domain !== null && { companyDomain: spelled(domain) }),
    })),
  };

  return {
    world: { companies, campaigns, deliveries, contacts: people, visits },
    streams: Object.fromEntries(
      Object.entries(streams).map(([stream, records]) => [stream, random.shuffled(records)]),
    ),
  };
}

/** Leaves out what two reports of the same moment would leave open. */
function uniqueReports(deliveries: World['deliveries']): World['deliveries'] {
  const seen = new Set<string>();
  for (const row of deliveries) {
    while (seen.has(`${row.key} ${row.reported}`)) row.reported++;
    seen.add(`${row.key} ${row.reported}`);
  }
  return deliveries;
}

export function drawnQuestion(random: Random): Question {
  const start = FIRST + random.below(15);
  const metrics = random.some(['impressions', 'clicks', 'engagements'], 3);
  return {
    start,
    end: start + random.below(25),
    lookback: random.pick([1, 2, 7, 30]),
    outcome: random.pick([1, 3, 10, 30]),
    thresholds: Object.fromEntries(metrics.map((metric) => [metric, 1 + random.below(8)])),
    campaigns: random.maybe(0.4, () => random.some(['c0', 'c1', 'c2'], 2)) ?? null,
    kinds: random.pick([['contacts', 'visits'], ['contacts', 'visits'], ['contacts'], ['visits']]),
  };
}

/** Sends the records in small parts, so that versions of a record arrive in different parts. */
export async function ingestWorld(
  gateway: Pick<TestGateway, 'ingest'>,
  organization: string,
  key: string,
  streams: DrawnWorld['streams'],
): Promise<void> {
  for (const [stream, records] of Object.entries(streams)) {
    const named = stream === 'website-visits' ? 'organizationId' : 'organization_id';
    for (let from = 0; from < records.length; from += 40) {
      const part = records.slice(from, from + 40).map((record) => ({ ...record, [named]: organization }));
      const answer = await gateway.ingest(stream, part, { key });
      expect(answer.body, answer.text).to.include({ accepted: part.length });
    }
  }
}
